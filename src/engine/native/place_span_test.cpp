// Positions against values worked out by hand from the published rule: a picture's tokens share the
// time of the place after the text, add their row and column, and text goes on behind the longer
// side.
#include "engine/native/place_span.h"

#include <gtest/gtest.h>

namespace saccade::engine::native {
namespace {

VisualSpan grid(int columns, int rows) {
  VisualSpan span;
  span.columns = columns;
  span.tokens = span.whole = columns * rows;
  return span;
}

TEST(PlaceSpanTest, ALandscapePictureBetweenTexts) {
  // Three words at 0, 1, 2; the picture at 3; the next word behind its three columns.
  const auto placed = place_span(grid(3, 2), 3, true);
  EXPECT_EQ(placed.tokens, (std::vector<Position>{
                               {3, 3, 3}, {3, 3, 4}, {3, 3, 5}, {3, 4, 3}, {3, 4, 4}, {3, 4, 5}}));
  EXPECT_EQ(placed.next, 6);
}

TEST(PlaceSpanTest, APortraitPictureTakesItsHeight) {
  const auto placed = place_span(grid(1, 4), 10, true);
  EXPECT_EQ(placed.tokens,
            (std::vector<Position>{{10, 10, 10}, {10, 11, 10}, {10, 12, 10}, {10, 13, 10}}));
  EXPECT_EQ(placed.next, 14);
}

// Text of 2, landscape, text of 1, a clip of two portrait pictures one after the other, text.
TEST(PlaceSpanTest, MixesOfTextPicturesAndClips) {
  std::int32_t next = 2;
  auto placed = place_span(grid(4, 2), next, true);
  EXPECT_EQ(placed.tokens.back(), (Position{2, 3, 5}));
  next = placed.next + 1;
  EXPECT_EQ(next, 7);
  placed = place_span(grid(2, 3), next, true);
  EXPECT_EQ(placed.tokens.front(), (Position{7, 7, 7}));
  EXPECT_EQ(placed.tokens.back(), (Position{7, 9, 8}));
  placed = place_span(grid(2, 3), placed.next, true);
  EXPECT_EQ(placed.tokens.front(), (Position{10, 10, 10}));
  EXPECT_EQ(placed.next, 13);
}

TEST(PlaceSpanTest, WhatIsLeftOutLeavesGaps) {
  VisualSpan reduced = grid(3, 2);
  reduced.kept = {1, 5};
  reduced.tokens = 2;
  auto placed = place_span(reduced, 3, true);
  EXPECT_EQ(placed.tokens, (std::vector<Position>{{3, 3, 4}, {3, 4, 5}}));
  EXPECT_EQ(placed.next, 6);
  placed = place_span(reduced, 3, false);
  EXPECT_EQ(placed.tokens, (std::vector<Position>{{4, 4, 4}, {8, 8, 8}}));
  EXPECT_EQ(placed.next, 9);
}

TEST(PlaceSpanTest, OneAxisAndNoGridFollowEachOther) {
  for (const int columns : {0, 2}) {
    VisualSpan span = grid(2, 2);
    span.columns = columns;
    const auto placed = place_span(span, 5, columns == 0);
    EXPECT_EQ(placed.tokens.back(), Position::at(8));
    EXPECT_EQ(placed.next, 9);
  }
}

}  // namespace
}  // namespace saccade::engine::native
