#include "ingest/backoff.h"

#include <gtest/gtest.h>

namespace saccade::ingest {
namespace {

core::SteadyTime at_s(double s) { return core::SteadyTime{static_cast<std::int64_t>(s * 1e6)}; }

TEST(Backoff, FirstWaitNeverExceedsTheRestartPromise) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Backoff backoff{core::Rng(seed)};
    const std::int64_t wait = backoff.failed(at_s(5));
    EXPECT_GE(wait, 250'000);
    EXPECT_LE(wait, 450'000) << "the start of a worker takes its time too";
  }
}

TEST(Backoff, StaysShortInTheFirstMinuteThenGrowsToThirtySeconds) {
  Backoff backoff{core::Rng(7)};
  core::SteadyTime now = at_s(100);
  std::int64_t longest_late = 0;
  for (int i = 0; i < 200; ++i) {
    const bool early = core::us_between(at_s(100), now) < Backoff::kEarlyUs;
    const std::int64_t wait = backoff.failed(now);
    ASSERT_GT(wait, 0) << "a wait of nothing is a hot loop";
    ASSERT_LE(wait, early ? Backoff::kFirstUs : Backoff::kLastUs);
    if (!early) longest_late = std::max(longest_late, wait);
    now.us += wait;
  }
  EXPECT_GT(longest_late, 15'000'000);
}

TEST(Backoff, FramesBeginANewOutage) {
  Backoff backoff{core::Rng(1)};
  for (int i = 0; i < 50; ++i) backoff.failed(at_s(i * 10));
  backoff.up();
  EXPECT_LE(backoff.failed(at_s(9000)), Backoff::kFirstUs);
}

TEST(Backoff, SourcesLostTogetherComeBackApart) {
  Backoff a{core::Rng(1)}, b{core::Rng(2)};
  EXPECT_NE(a.failed(at_s(0)), b.failed(at_s(0)));
}

}  // namespace
}  // namespace saccade::ingest
