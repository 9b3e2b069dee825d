#include "core/pixels.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/rng.h"

namespace saccade::core {
namespace {

constexpr int kIntMax = std::numeric_limits<int>::max();
constexpr int kIntMin = std::numeric_limits<int>::min();

TEST(Pixels, ClipKeepsThePartInside) {
  EXPECT_EQ(clip(Rect{-5, 2, 10, 3}, 100, 4), (Rect{0, 2, 5, 2}));
  EXPECT_EQ(clip(Rect{10, 10, 5, 5}, 100, 100), (Rect{10, 10, 5, 5}));
  EXPECT_TRUE(clip(Rect{100, 0, 5, 5}, 100, 100).empty());
  EXPECT_TRUE(clip(Rect{5, 5, -3, 5}, 100, 100).empty());
  EXPECT_TRUE(clip(Rect{0, 0, 5, 5}, 0, 100).empty());
}

TEST(Pixels, ClipStandsAnyRectangle) {
  Rng rng(1);
  const int edges[] = {kIntMin, -1, 0, 1, 640, kIntMax};
  const auto any = [&] { return edges[rng.between(0, 5)]; };
  for (int n = 0; n < 5'000; ++n) {
    const int width = any(), height = any();
    const Rect r = clip(Rect{any(), any(), any(), any()}, width, height);
    EXPECT_GE(r.x, 0);
    EXPECT_GE(r.width, 0);
    EXPECT_LE(static_cast<std::int64_t>(r.x) + r.width, std::max(0, width));
    EXPECT_LE(static_cast<std::int64_t>(r.y) + r.height, std::max(0, height));
  }
}

TEST(Pixels, OverlapIsIntersectionOverUnion) {
  const Rect a{0, 0, 10, 10};
  EXPECT_DOUBLE_EQ(overlap(a, a), 1.0);
  EXPECT_DOUBLE_EQ(overlap(a, Rect{5, 0, 10, 10}), 50.0 / 150.0);
  EXPECT_DOUBLE_EQ(overlap(Rect{5, 0, 10, 10}, a), 50.0 / 150.0);
  EXPECT_DOUBLE_EQ(overlap(a, Rect{10, 0, 10, 10}), 0.0);
  EXPECT_DOUBLE_EQ(overlap(a, Rect{0, 0, -10, -10}), 0.0);
  EXPECT_DOUBLE_EQ(overlap(Rect{}, Rect{}), 0.0);
  const Rect huge{kIntMax - 1, 0, kIntMax, kIntMax};
  EXPECT_DOUBLE_EQ(overlap(huge, huge), 1.0);
}

TEST(Pixels, CropSharesTheRows) {
  std::vector<std::uint8_t> rgb(4 * 16);
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>(i);
  const PixelView whole{rgb.data(), 5, 4, 16};  // one byte of padding per row
  const PixelView part = whole.crop(Rect{1, 2, 3, 2});
  EXPECT_EQ(part.width, 3);
  EXPECT_EQ(part.row(0)[0], 2 * 16 + 3);
  EXPECT_EQ(part.row(1)[0], 3 * 16 + 3);
  EXPECT_FALSE(part.empty());
  EXPECT_TRUE(PixelView{}.empty());
}

TEST(Pixels, CopiesShareOneSlot) {
  Pixels pixels;
  EXPECT_TRUE(pixels.empty());
  pixels.data = std::make_shared<const std::uint8_t>(9);
  pixels.width = pixels.height = 1;
  pixels.stride_bytes = 3;
  const Pixels copy = pixels;
  EXPECT_EQ(copy.view().row(0), pixels.view().row(0));
  EXPECT_EQ(pixels.data.use_count(), 2);
}

}  // namespace
}  // namespace saccade::core
