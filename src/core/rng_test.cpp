#include "core/rng.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "core/clock.h"

namespace saccade::core {
namespace {

TEST(Rng, GivesThePublishedNumbers) {
  // First outputs of the reference splitmix64.c for seed 1234567.
  Rng rng(1234567);
  EXPECT_EQ(rng.next(), 6457827717110365317ULL);
  EXPECT_EQ(rng.next(), 3203168211198807973ULL);
}

TEST(Rng, UniformStaysBelowOne) {
  Rng rng(5);
  double sum = 0;
  for (int n = 0; n < 10'000; ++n) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Rng, BetweenReachesBothEndsAndNothingElse) {
  Rng rng(6);
  std::set<std::int64_t> seen;
  for (int n = 0; n < 1'000; ++n) seen.insert(rng.between(-2, 3));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(rng.between(4, 4), 4);
  EXPECT_EQ(rng.between(4, 3), 4);
}

TEST(Rng, BetweenStandsTheWholeRange) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  Rng rng(7);
  int negative = 0;
  for (int n = 0; n < 1'000; ++n) negative += rng.between(kMin, kMax) < 0;
  EXPECT_NEAR(negative, 500, 100);
  for (int n = 0; n < 1'000; ++n) EXPECT_GE(rng.between(-5, kMax), -5);
}

TEST(ManualClock, MovesOnlyWhenTold) {
  const ManualClock idle;
  EXPECT_EQ(idle.now(), idle.now());
  ManualClock clock;
  const WallTime wall = clock.wall_now();
  clock.advance_us(1'500);
  clock.sleep_us(500);
  clock.sleep_us(-9);
  EXPECT_EQ(clock.now().us, 2'000);
  EXPECT_EQ(clock.wall_now().us - wall.us, 2'000);
  EXPECT_DOUBLE_EQ(ms_between(SteadyTime{}, clock.now()), 2.0);
}

TEST(SystemClock, NeverRunsBackAndSleepsAtLeast) {
  const SystemClock clock;
  const SteadyTime start = clock.now();
  clock.sleep_us(2'000);
  EXPECT_GE(us_between(start, clock.now()), 2'000);
  EXPECT_GT(clock.wall_now().us, 1'500'000'000'000'000);  // after 2017
}

}  // namespace
}  // namespace saccade::core
