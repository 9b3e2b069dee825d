// Sizes against the published rule, pixels against what Pillow gives.
#include "engine/native/fit_view.h"

#include <gtest/gtest.h>

#include "engine/llama/mini_model.h"
#include "engine/native/resample.h"
#include "engine/native/tile_view.h"

namespace saccade::engine::native {
namespace {

// The picture whose resized copies were hashed in Python.
std::vector<std::uint8_t> pattern(int width, int height) {
  std::vector<std::uint8_t> out;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        out.push_back(static_cast<std::uint8_t>(x * 7 + y * 13 + c * 29 + x * y));
      }
    }
  }
  return out;
}

std::uint64_t fnv(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211ULL;
  return hash;
}

TEST(ResampleTest, EqualsPillow) {
  const auto rgb = pattern(37, 23);
  const core::PixelView view{rgb.data(), 37, 23, 37 * 3};
  EXPECT_EQ(fnv(resample(view, 20, 41, Filter::kBilinear)), 0x31917cd37b1859b9ULL);
  EXPECT_EQ(fnv(resample(view, 74, 11, Filter::kBilinear)), 300109705022444753ULL);
  EXPECT_EQ(fnv(resample(view, 20, 41, Filter::kBicubic)), 0x6cbc7e172e09b272ULL);
  EXPECT_EQ(fnv(resample(view, 74, 11, Filter::kBicubic)), 152627517944201090ULL);
  EXPECT_EQ(fnv(resample(view, 37, 12, Filter::kBicubic)), 0x12f019407be2a51aULL);
  EXPECT_EQ(fnv(resample(view, 64, 23, Filter::kBicubic)), 0xc0fcfc4c0579e2beULL);
  EXPECT_EQ(resample(view, 37, 23, Filter::kBicubic), rgb);
}

TEST(FitViewTest, SidesAreWholeTokensInsideTheBounds) {
  const auto fit = [](int w, int h) { return whole_tokens({w, h}, 28, 8, 4096); };
  EXPECT_EQ(fit(640, 360), (PictureSize{644, 364}));
  EXPECT_EQ(fit(360, 640), (PictureSize{364, 644}));
  EXPECT_EQ(fit(1920, 1080), (PictureSize{1932, 1092}));
  EXPECT_EQ(fit(3840, 2160), (PictureSize{2380, 1344}));  // over 4096 tokens at its own size
  EXPECT_EQ(fit(32, 32), (PictureSize{84, 84}));          // under 8 tokens at its own size
  EXPECT_EQ(fit(40, 2000), (PictureSize{28, 1988}));
}

TEST(FitViewTest, WhatDoesNotFitStandsInTheMiddle) {
  const std::vector<std::uint8_t> white(std::size_t{40} * 10 * 3, 255);
  const auto out = fit_view({white.data(), 40, 10, 120}, {40, 16}, {1, 2, 3});
  ASSERT_EQ(out.size(), std::size_t{40} * 16 * 3);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t row = i / 120;
    EXPECT_EQ(out[i], row >= 3 && row < 13 ? 255 : i % 3 + 1) << i;
  }
}

TEST(TileViewTest, TheGridShowsMostAndWastesLeast) {
  const TileLimits limits{448, 1, 12};
  EXPECT_EQ(choose_grid(448, 300, limits), (TileGrid{0, 0}));
  EXPECT_EQ(choose_grid(896, 448, limits), (TileGrid{2, 1}));
  EXPECT_EQ(choose_grid(448, 1344, limits), (TileGrid{1, 3}));
  EXPECT_EQ(choose_grid(1280, 720, limits), (TileGrid{3, 2}));
  EXPECT_EQ(choose_grid(4000, 4000, limits), (TileGrid{3, 3}));
  EXPECT_EQ(choose_grid(1280, 720, {448, 5, 4}), (TileGrid{0, 0}));  // no grid is allowed
}

TEST(TileViewTest, TilesStandInReadingOrderBeforeTheOverview) {
  // Four squares of one colour each, exactly two by two tiles.
  constexpr int kSide = 8;
  std::vector<std::uint8_t> rgb;
  for (int i = 0; i < 4 * kSide * kSide; ++i) {
    const int tile = i / (2 * kSide) / kSide * 2 + i % (2 * kSide) / kSide;
    rgb.insert(rgb.end(), 3, static_cast<std::uint8_t>(50 * (tile + 1)));
  }
  const auto tiles = tile_view({rgb.data(), 16, 16, 48}, {kSide, 1, 4});
  ASSERT_EQ(tiles.size(), 5U);
  for (std::size_t tile = 0; tile < 4; ++tile) {
    EXPECT_EQ(tiles[tile], std::vector<std::uint8_t>(std::size_t{kSide} * kSide * 3,
                                                     static_cast<std::uint8_t>(50 * (tile + 1))));
  }
  EXPECT_EQ(tiles[4].size(), tiles[0].size());
}

}  // namespace
}  // namespace saccade::engine::native
