#include "perceive/read/order_lines.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace saccade::perceive {
namespace {

Quad at(float x, float y, float width = 100, float height = 20) {
  return Quad{{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}};
}

using Order = std::vector<std::size_t>;

TEST(ReadingOrder, RowsFirstThenLeftToRight) {
  const std::vector<Quad> boxes{at(300, 102), at(10, 200), at(10, 100), at(300, 196)};
  EXPECT_EQ(reading_order(boxes), (Order{2, 0, 1, 3}));
}

TEST(ReadingOrder, ALineHalfARowLowerIsTheNextRow) {
  const std::vector<Quad> boxes{at(200, 115), at(10, 100)};
  EXPECT_EQ(reading_order(boxes), (Order{1, 0}));
}

TEST(ReadingOrder, AStairOfLinesIsNotOneRow) {
  const std::vector<Quad> boxes{at(300, 100), at(200, 108), at(100, 116)};
  // The third is below the first by most of a height, though each touches its neighbour.
  EXPECT_EQ(reading_order(boxes).back(), 2U);
}

TEST(ReadingOrder, ATallNeighbourDoesNotSwallowManyRows) {
  const std::vector<Quad> boxes{at(500, 0, 50, 300), at(10, 20), at(10, 260)};
  const Order order = reading_order(boxes);
  EXPECT_LT(std::find(order.begin(), order.end(), 1U), std::find(order.begin(), order.end(), 2U));
}

TEST(ReadingOrder, NothingGivesNothing) { EXPECT_TRUE(reading_order({}).empty()); }

}  // namespace
}  // namespace saccade::perceive
