#include "governor/turns.h"

#include <gtest/gtest.h>

#include <array>

namespace saccade::governor {
namespace {

TEST(Turns, NoMoreRunThanTheWidth) {
  Turns turns;
  for (StreamId s = 1; s <= 3; ++s) {
    ASSERT_TRUE(turns.join(s, 1));
    turns.want(s);
  }
  turns.set_width(2);
  EXPECT_EQ(1U, turns.grant());
  EXPECT_EQ(2U, turns.grant());
  EXPECT_FALSE(turns.grant());
  turns.done(1, 10);
  EXPECT_EQ(3U, turns.grant());
}

TEST(Turns, DeviceTimeIsSharedByWeightWhateverATurnTakes) {
  Turns turns;
  const std::array<double, 3> weight = {1, 1, 2}, ms = {10, 40, 10};
  std::array<double, 3> used{};
  for (StreamId s = 0; s < 3; ++s) ASSERT_TRUE(turns.join(s, weight[s]));
  for (int i = 0; i < 4000; ++i) {
    for (StreamId s = 0; s < 3; ++s) turns.want(s);
    const auto next = turns.grant();
    ASSERT_TRUE(next);
    used[*next] += ms[*next];
    turns.done(*next, ms[*next]);
  }
  EXPECT_NEAR(used[0], used[1], 0.02 * used[0]);
  EXPECT_NEAR(used[2], 2 * used[0], 0.02 * used[2]);
}

TEST(Turns, WhoWasAwaySavesNothingUp) {
  Turns turns;
  ASSERT_TRUE(turns.join(1, 1));
  ASSERT_TRUE(turns.join(2, 1));
  for (int i = 0; i < 100; ++i) {
    turns.want(1);
    ASSERT_EQ(1U, turns.grant());
    turns.done(1, 10);
  }
  int second = 0;
  for (int i = 0; i < 10; ++i) {
    turns.want(1);
    turns.want(2);
    const auto next = turns.grant();
    second += next == StreamId{2};
    turns.done(*next, 10);
  }
  EXPECT_LE(second, 6);
}

TEST(Turns, LeavingWhileRunningFreesThePlaceOnce) {
  Turns turns;
  ASSERT_TRUE(turns.join(1, 1));
  ASSERT_TRUE(turns.join(2, 1));
  turns.want(1);
  turns.want(2);
  ASSERT_EQ(1U, turns.grant());
  turns.leave(1);
  EXPECT_FALSE(turns.grant());
  turns.done(1, 5);
  EXPECT_EQ(2U, turns.grant());
  turns.leave(2);
  turns.done(2, 5);
  EXPECT_EQ(0, turns.running());
  EXPECT_EQ(0, turns.waiting());
}

TEST(Turns, RefusesMoreStreamsThanItsLimitAndTheSameOneTwice) {
  Turns turns;
  EXPECT_TRUE(turns.join(1, 1));
  EXPECT_FALSE(turns.join(1, 1));
  for (StreamId s = 2; s <= kStreamsMax; ++s) ASSERT_TRUE(turns.join(s, 1));
  EXPECT_FALSE(turns.join(kStreamsMax + 1, 1));
}

}  // namespace
}  // namespace saccade::governor
