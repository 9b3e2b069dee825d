#include "engine/llama/resize_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/llama/mini_model.h"

namespace saccade::engine::llama {
namespace {

TEST(ResizeViewTest, TheSameSizeIsACopyAlsoWithAStride) {
  const auto picture = test::draw(1, 40, 30);
  const auto crop = picture.view().crop({5, 6, 20, 10});
  const auto out = resize_view(crop, 20, 10);
  for (int y = 0; y < 10; ++y) {
    EXPECT_TRUE(std::equal(crop.row(y), crop.row(y) + 60, out.begin() + y * 60)) << y;
  }
}

TEST(ResizeViewTest, FlatPicturesStayFlatAtAnySize) {
  for (const auto& [w, h] : {std::pair{1, 1}, {1, 4096}, {4096, 1}, {3, 7}, {640, 360}, {37, 41}}) {
    const std::vector<std::uint8_t> rgb(static_cast<std::size_t>(w) * h * 3, 200);
    const auto out = resize_view({rgb.data(), w, h, std::ptrdiff_t{3} * w}, 192, 192);
    ASSERT_EQ(out.size(), 192U * 192U * 3U);
    EXPECT_EQ(std::count(out.begin(), out.end(), 200), 192 * 192 * 3) << w << "x" << h;
  }
}

// Shrinking fine stripes gives grey, not a moire of black and white.
TEST(ResizeViewTest, ShrinkingDoesNotAlias) {
  const int side = 960;
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(side) * side * 3);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side * 3; ++x) {
      rgb[static_cast<std::size_t>(y) * side * 3 + x] = (x / 3) % 2 == 0 ? 0 : 255;
    }
  }
  const auto out = resize_view({rgb.data(), side, side, std::ptrdiff_t{3} * side}, 192, 192);
  for (std::size_t x = 0; x < out.size(); ++x) {
    const bool edge = x % 576 < 12 || x % 576 >= 564;  // the filter is cut off there
    ASSERT_NEAR(out[x], 128, edge ? 16 : 4) << x;
  }
}

// A smooth ramp keeps its values at the matching places.
TEST(ResizeViewTest, ARampStaysWhereItIs) {
  const int w = 400, h = 10;
  std::vector<std::uint8_t> rgb;
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) rgb.insert(rgb.end(), 3, static_cast<std::uint8_t>(x * 255 / w));
  }
  const auto out = resize_view({rgb.data(), w, h, std::ptrdiff_t{3} * w}, 100, 10);
  for (int x = 5; x < 95; ++x) {
    EXPECT_NEAR(out[static_cast<std::size_t>(x) * 3], (x * 4 + 1.5) * 255 / w, 1.5) << x;
  }
}

}  // namespace
}  // namespace saccade::engine::llama
