#include "perceive/read/detect_text.h"

#include <gtest/gtest.h>

#include "core/limits.h"
#include "perceive/read/join_boxes.h"
#include "perceive/read/recognize_line.h"

namespace saccade::perceive {
namespace {

Quad upright(float x, float y, float width, float height) {
  return Quad{{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}};
}

TextMap map_of(int width, int height) {
  return TextMap{std::vector<float>(static_cast<std::size_t>(width) * height, 0.0F), height, width};
}

void paint(TextMap& map, core::Rect r, float probability) {
  for (int y = r.y; y < r.y + r.height; ++y) {
    for (int x = r.x; x < r.x + r.width; ++x) {
      map.probability[static_cast<std::size_t>(y) * map.width + x] = probability;
    }
  }
}

TEST(Unclip, GrowsAllSidesByAreaOverPerimeter) {
  // 100 x 20: 2000 * 1.6 / 240 = 13.33.
  const core::Rect grown = bounds(unclip(upright(50, 50, 100, 20), 1.6F));
  EXPECT_EQ(grown, (core::Rect{36, 36, 128, 48}));
}

TEST(Unclip, FollowsARotatedBox) {
  const Quad diamond{{{50, 0}, {100, 50}, {50, 100}, {0, 50}}};
  const Quad grown = unclip(diamond, 1.0F);  // side 70.7, so 17.7 outward
  EXPECT_NEAR(grown[0][0], 50, 0.1);
  EXPECT_NEAR(grown[0][1], -25, 0.1);
  EXPECT_NEAR(grown[1][0], 125, 0.1);
}

TEST(Unclip, ABoxWithoutAreaStays) {
  const Quad line = upright(5, 5, 10, 0);
  EXPECT_EQ(unclip(line, 1.6F), line);
}

TEST(BoxesFromMap, FindsABlobAndItsCorners) {
  TextMap map = map_of(256, 96);
  paint(map, {40, 30, 120, 24}, 0.95F);
  const auto found = boxes_from_map(map, DetectOptions{});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found[0].score, 0.85F);
  EXPECT_LT(found[0].box[0][0], 40);   // top left, unclipped
  EXPECT_GT(found[0].box[2][0], 160);  // bottom right
  EXPECT_LT(found[0].box[0][1], found[0].box[3][1]);
}

TEST(BoxesFromMap, DropsFaintBlobsAndSpecks) {
  TextMap map = map_of(256, 96);
  paint(map, {40, 30, 120, 24}, 0.29F);
  paint(map, {200, 10, 1, 1}, 1.0F);
  EXPECT_TRUE(boxes_from_map(map, DetectOptions{}).empty());
  EXPECT_TRUE(boxes_from_map(TextMap{}, DetectOptions{}).empty());
}

TEST(BoxesFromMap, ManyBlobsAreBounded) {
  TextMap map = map_of(1600, 1600);
  for (int y = 4; y < 1590; y += 40) {
    for (int x = 4; x < 1590; x += 40) paint(map, {x, y, 10, 10}, 0.9F);
  }
  EXPECT_EQ(boxes_from_map(map, DetectOptions{}).size(), core::limits::kTextLinesMax);
}

TEST(JoinBoxes, PutsTheWordsOfOneLineTogether) {
  const auto lines =
      join_boxes({{upright(10, 10, 200, 40), 0.9F}, {upright(215, 12, 40, 38), 0.8F}}, 0.5F);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(bounds(lines[0].box), (core::Rect{10, 10, 245, 40}));
}

TEST(JoinBoxes, LeavesColumnsAndRowsApart) {
  EXPECT_EQ(join_boxes({{upright(10, 10, 200, 40), 0.9F},
                        {upright(260, 10, 200, 40), 0.9F},
                        {upright(10, 55, 200, 40), 0.9F}},
                       0.5F)
                .size(),
            3U);
}

TEST(JoinBoxes, AWeakBoxOnlyContinuesALine) {
  const auto lines = join_boxes({{upright(10, 10, 200, 40), 0.9F},
                                 {upright(232, 14, 12, 30), 0.35F},
                                 {upright(600, 300, 60, 40), 0.4F}},
                                0.5F);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_GE(bounds(lines[0].box).width, 234);
}

TEST(JoinBoxes, JoinsAlongATurnedLine) {
  const auto lines =
      join_boxes({{upright(10, 10, 40, 200), 0.9F}, {upright(10, 214, 40, 80), 0.9F}}, 0.5F);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(bounds(lines[0].box), (core::Rect{10, 10, 40, 284}));
  // Corners stay clockwise from the top left.
  EXPECT_LT(lines[0].box[0][0], lines[0].box[1][0]);
  EXPECT_LT(lines[0].box[1][1], lines[0].box[2][1]);
}

TEST(Turned, StartsAtAnotherCornerAndFourTurnsAreNone) {
  const Quad box = upright(0, 0, 10, 30);
  EXPECT_EQ(turned(box, 1)[0], box[1]);
  EXPECT_EQ(turned(box, 3)[0], box[3]);
  EXPECT_EQ(turned(box, 4), box);
}

}  // namespace
}  // namespace saccade::perceive
