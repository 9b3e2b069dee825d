#include "perceive/read/plan_regions.h"

#include <gtest/gtest.h>

namespace saccade::perceive {
namespace {

constexpr PictureSize k720p{1280, 720};

core::MediaTime at(std::int64_t ms) { return core::MediaTime::from_us(ms * 1000); }

bool inside(const core::Rect& inner, const core::Rect& outer) {
  return inner.x >= outer.x && inner.y >= outer.y &&
         inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

TEST(AddArea, NewerChangesCoverOlderOnes) {
  std::vector<DatedArea> areas;
  add_area(areas, {{10, 10, 20, 20}, at(1)});
  add_area(areas, {{0, 0, 100, 100}, at(2)});
  ASSERT_EQ(areas.size(), 1U);
  EXPECT_EQ(areas[0].since, at(2));
  add_area(areas, {{0, 0, 0, 10}, at(3)});
  EXPECT_EQ(areas.size(), 1U) << "an empty change is none";
}

TEST(AddArea, ManyChangesBecomeOneAroundThemAll) {
  std::vector<DatedArea> areas;
  for (int i = 0; i < 200; ++i) add_area(areas, {{i * 5, i * 3, 4, 2}, at(i)});
  EXPECT_LE(areas.size(), kAreasMax);
  for (int i = 0; i < 200; ++i) {
    bool covered = false;
    for (const DatedArea& area : areas) {
      covered = covered || (inside({i * 5, i * 3, 4, 2}, area.area) && area.since >= at(i));
    }
    EXPECT_TRUE(covered) << i;
  }
}

TEST(WithTouchedLines, TakesWholeLinesThatAChangeTouches) {
  const std::vector<core::Rect> lines{{84, 130, 300, 40}, {84, 400, 300, 40}};
  const auto areas = with_touched_lines({{{350, 140, 10, 10}, at(7)}}, lines);
  ASSERT_EQ(areas.size(), 2U);
  EXPECT_EQ(areas[1].area, lines[0]);
  EXPECT_EQ(areas[1].since, at(7));
}

TEST(PlanCrops, HoldsTheChangeWithAMarginAndInsideThePicture) {
  const std::vector<DatedArea> areas{{{600, 300, 50, 20}, at(0)}, {{0, 700, 30, 20}, at(0)}};
  const auto crops = plan_crops(areas, k720p);
  ASSERT_EQ(crops.size(), 2U);
  EXPECT_TRUE(inside({560, 270, 130, 80}, crops[0]));
  EXPECT_TRUE(inside(areas[1].area, crops[1]));
  for (const core::Rect& crop : crops) {
    EXPECT_TRUE(inside(crop, {0, 0, 1280, 720}));
    EXPECT_EQ(crop.width % 64, 0);
    EXPECT_EQ(crop.height % 64, 0);
  }
}

TEST(PlanCrops, NeighboursShareOneCropAndCornersDoNot) {
  EXPECT_EQ(
      plan_crops(std::vector<DatedArea>{{{100, 100, 40, 20}, at(0)}, {{160, 100, 40, 20}, at(0)}},
                 k720p)
          .size(),
      1U);
  // A lamp above one end of a banner: one crop around both would be mostly unchanged picture.
  EXPECT_EQ(plan_crops(
                std::vector<DatedArea>{{{40, 600, 1200, 40}, at(0)}, {{1080, 380, 80, 140}, at(0)}},
                k720p)
                .size(),
            2U);
}

TEST(PlanCrops, MostOfThePictureIsTheWholePicture) {
  const auto crops = plan_crops(std::vector<DatedArea>{{{0, 0, 1280, 600}, at(0)}}, k720p);
  ASSERT_EQ(crops.size(), 1U);
  EXPECT_EQ(crops[0], (core::Rect{0, 0, 1280, 720}));
}

TEST(PlanCrops, TinyPicturesAndForeignAreasAreHarmless) {
  const auto crops = plan_crops(std::vector<DatedArea>{{{0, 0, 1, 1}, at(0)}}, {1, 1});
  ASSERT_EQ(crops.size(), 1U);
  EXPECT_EQ(crops[0], (core::Rect{0, 0, 1, 1}));
  EXPECT_TRUE(plan_crops(std::vector<DatedArea>{{{5000, 5000, 10, 10}, at(0)}}, k720p).empty());
}

TEST(GrownAround, GrowsOnlyTowardsALineThatReachesOut) {
  const core::Rect crop{320, 192, 256, 128};
  EXPECT_EQ(grown_around(crop, {400, 230, 80, 30}, k720p), crop);
  const core::Rect right = grown_around(crop, {400, 230, 176, 30}, k720p);
  EXPECT_EQ(right.x, crop.x);
  EXPECT_GT(right.width, crop.width);
  EXPECT_EQ(right.height, crop.height);
}

TEST(GrownAround, ThePicturesOwnBorderIsNoReason) {
  const core::Rect crop{0, 0, 256, 128};
  EXPECT_EQ(grown_around(crop, {0, 0, 100, 30}, k720p), crop);
}

}  // namespace
}  // namespace saccade::perceive
