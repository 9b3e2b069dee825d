#include "ingest/orient_picture.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace saccade::ingest {
namespace {

// The 3x2 picture   1 2 3   as grey RGB, with a stride that is not packed.
//                   4 5 6
struct Numbered {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(2 * 16, 99);
  Numbered() {
    for (std::size_t y = 0; y < 2; ++y) {
      for (std::size_t x = 0; x < 3; ++x) {
        for (std::size_t c = 0; c < 3; ++c) {
          bytes[y * 16 + x * 3 + c] = static_cast<std::uint8_t>(y * 3 + x + 1);
        }
      }
    }
  }
  RawPicture picture() const {
    RawPicture raw = packed_rgb(bytes.data(), 16);
    raw.width = 3;
    raw.height = 2;
    return raw;
  }
};

std::vector<int> upright(int orientation) {
  const Numbered numbered;
  std::vector<std::uint8_t> out(18);
  write_upright(numbered.picture(), orientation, 255, out.data());
  std::vector<int> levels;
  for (std::size_t i = 0; i < out.size(); i += 3) levels.push_back(out[i]);
  return levels;
}

using Levels = std::vector<int>;

TEST(OrientPicture, EightWaysOfHoldingACamera) {
  EXPECT_EQ(upright(1), (Levels{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(upright(2), (Levels{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(upright(3), (Levels{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(upright(4), (Levels{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(upright(5), (Levels{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(upright(6), (Levels{4, 1, 5, 2, 6, 3}));
  EXPECT_EQ(upright(7), (Levels{6, 3, 5, 2, 4, 1}));
  EXPECT_EQ(upright(8), (Levels{3, 6, 2, 5, 1, 4}));
}

TEST(OrientPicture, MatrixNamesTheNearestWay) {
  constexpr std::int32_t kOne = 1 << 16;
  const auto way = [](std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
    return orientation_of_matrix(std::array<std::int32_t, 9>{a, b, 0, c, d, 0, 0, 0, 1 << 30});
  };
  EXPECT_EQ(way(kOne, 0, 0, kOne), 1);
  EXPECT_EQ(way(-kOne, 0, 0, kOne), 2);
  EXPECT_EQ(way(-kOne, 0, 0, -kOne), 3);
  EXPECT_EQ(way(kOne, 0, 0, -kOne), 4);
  EXPECT_EQ(way(0, kOne, kOne, 0), 5);
  EXPECT_EQ(way(0, kOne, -kOne, 0), 6);
  EXPECT_EQ(way(0, -kOne, -kOne, 0), 7);
  EXPECT_EQ(way(0, -kOne, kOne, 0), 8);
  EXPECT_EQ(way(60'000, 9'000, -9'000, 60'000), 1);
  EXPECT_EQ(way(0, 0, 0, 0), 1);
  EXPECT_EQ(way(INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN), 3);
}

TEST(OrientPicture, PlanesAreInterleavedWhicheverWay) {
  std::vector<std::uint8_t> planes(3 * 50 * 2);
  for (std::size_t i = 0; i < planes.size(); ++i) planes[i] = static_cast<std::uint8_t>(i);
  RawPicture raw{planes.data(), planes.data() + 100, planes.data() + 200, nullptr, 50, 1, 50, 2};
  std::vector<std::uint8_t> out(300);
  write_upright(raw, 1, 255, out.data());
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(out[3 * i], planes[i]);
    ASSERT_EQ(out[3 * i + 1], planes[100 + i]);
    ASSERT_EQ(out[3 * i + 2], planes[200 + i]);
  }
  write_upright(raw, 3, 255, out.data());
  EXPECT_EQ(out[0], planes[99]);
  EXPECT_EQ(out[299], planes[200]);
}

TEST(OrientPicture, TransparencyShowsTheMatte) {
  const std::array<std::uint8_t, 12> rgba = {200, 100, 0, 255, 200, 100, 0, 0, 200, 100, 0, 51};
  std::array<std::uint8_t, 9> out{};
  RawPicture raw = packed_rgba(rgba.data(), 12);
  raw.width = 3;
  raw.height = 1;
  write_upright(raw, 1, 10, out.data());
  EXPECT_EQ(out, (std::array<std::uint8_t, 9>{200, 100, 0, 10, 10, 10, 48, 28, 8}));
}

}  // namespace
}  // namespace saccade::ingest
