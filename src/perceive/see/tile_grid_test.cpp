#include "perceive/see/tile_grid.h"

#include <gtest/gtest.h>

namespace saccade::perceive {
namespace {

engine::VisionTraits traits(int side, int grid_max) {
  engine::VisionTraits t;
  t.view_side = side;
  t.tiles = true;
  t.tile_grid_max = grid_max;
  return t;
}

TEST(TileGrid, FollowsThePicturesOwnPixels) {
  const auto tiles = plan_tiles(1280, 720, traits(512, 4));
  ASSERT_EQ(tiles.size(), 6U);
  EXPECT_EQ(tiles.front().place, (engine::ViewPlace{1, 1}));
  EXPECT_EQ(tiles.back().place, (engine::ViewPlace{2, 3}));
  EXPECT_EQ(tiles.front().source, (core::Rect{0, 0, 426, 360}));
}

TEST(TileGrid, CoversEveryPixelOnce) {
  for (const auto& [width, height] :
       {std::pair{1, 4096}, {4096, 1}, {400, 800}, {513, 511}, {7680, 4320}, {1000, 999}}) {
    std::int64_t pixels = 0;
    for (const Tile& tile : plan_tiles(width, height, traits(512, 4))) {
      EXPECT_EQ(core::clip(tile.source, width, height), tile.source);
      EXPECT_FALSE(tile.source.empty());
      EXPECT_LE(tile.place.row, 4);
      EXPECT_LE(tile.place.column, 4);
      pixels += static_cast<std::int64_t>(tile.source.width) * tile.source.height;
    }
    EXPECT_EQ(pixels, static_cast<std::int64_t>(width) * height);
  }
}

TEST(TileGrid, NoneWhereTheGlobalViewShowsEverything) {
  EXPECT_TRUE(plan_tiles(512, 300, traits(512, 4)).empty());
  EXPECT_TRUE(plan_tiles(1, 1, traits(512, 4)).empty());
  EXPECT_TRUE(plan_tiles(4000, 3000, traits(512, 1)).empty());
  EXPECT_TRUE(plan_tiles(4000, 3000, engine::VisionTraits{}).empty());
}

}  // namespace
}  // namespace saccade::perceive
