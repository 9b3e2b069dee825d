#include "emit/run_summary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace saccade::emit {
namespace {

double number(const RunSummary& summary, const std::string& name) {
  for (const auto& [key, value] : summary.numbers({.wall_seconds = 5, .peak_memory_bytes = 0})) {
    if (key == name) return value;
  }
  return std::nan("");
}

TEST(Quantiles, ArewithinOnePercentOfTheExactOnes) {
  Quantiles quantiles;
  for (int i = 1; i <= 10'000; ++i) quantiles.add(i);
  EXPECT_NEAR(quantiles.at(0.50), 5000, 55);
  EXPECT_NEAR(quantiles.at(0.95), 9500, 100);
  EXPECT_NEAR(quantiles.at(0.99), 9900, 105);
  EXPECT_LE(quantiles.at(1.0), 10'000);
  EXPECT_EQ(quantiles.count(), 10'000U);
}

TEST(Quantiles, TakeWhatIsOutOfRangeAndLeaveOutWhatIsNoNumber) {
  Quantiles quantiles;
  EXPECT_EQ(quantiles.at(0.5), 0);
  quantiles.add(std::nan(""));
  quantiles.add(INFINITY);
  EXPECT_EQ(quantiles.count(), 0U);
  quantiles.add(-5);
  quantiles.add(1e300);
  EXPECT_EQ(quantiles.count(), 2U);
  EXPECT_LE(quantiles.at(0.99), 1e7);
}

TEST(RunSummary, CountsAndRatios) {
  RunSummary summary;
  summary.count_seen(10);
  summary.count_unchanged(4);
  summary.count_answer(20);
  summary.count_answer(std::nan(""));  // age unknown: still an answer
  summary.count_dropped(DropReason::kBusy, 3);
  summary.saw_media_until(core::MediaTime::from_us(2'000'000));
  summary.saw_media_until(core::MediaTime::from_us(12'000'000, 1));
  summary.saw_media_until(core::MediaTime::unset());
  EXPECT_EQ(number(summary, "frames_seen"), 10);
  EXPECT_EQ(number(summary, "frames_unchanged"), 4);
  EXPECT_EQ(number(summary, "answers"), 2);
  EXPECT_EQ(number(summary, "dropped_busy"), 3);
  EXPECT_EQ(number(summary, "dropped_late"), 0);
  EXPECT_EQ(number(summary, "frame_age_samples"), 1);
  EXPECT_NEAR(number(summary, "frame_age_p50_ms"), 20, 0.4);
  EXPECT_DOUBLE_EQ(number(summary, "media_s"), 10);
  EXPECT_DOUBLE_EQ(number(summary, "realtime_x"), 2);
  EXPECT_TRUE(std::isnan(number(summary, "peak_memory_mb")));
}

TEST(RunSummary, WithoutAnswersThereAreNoPercentiles) {
  EXPECT_TRUE(std::isnan(number(RunSummary(), "frame_age_p50_ms")));
}

}  // namespace
}  // namespace saccade::emit
