#include "telemetry/metrics.h"

#include <gtest/gtest.h>

#include <limits>

namespace saccade::telemetry {
namespace {

std::string written(const Family& family) {
  std::string out;
  family.write(out);
  return out;
}

TEST(Metrics, ACounterHasOneLinePerLabelCombination) {
  Counter counter({"saccade_things_total", "Things.", {"kind", "why"}});
  counter.add({"a", "b"});
  counter.add({"a", "b"}, 2.5);
  counter.add({"x\"y\\z\n", ""});
  EXPECT_EQ(written(counter),
            "# HELP saccade_things_total Things.\n# TYPE saccade_things_total counter\n"
            "saccade_things_total{kind=\"a\",why=\"b\"} 3.5\n"
            "saccade_things_total{kind=\"x\\\"y\\\\z \",why=\"\"} 1\n");
}

TEST(Metrics, AHistogramCountsUpwardsAndTakesItsUpperBoundsIn) {
  const std::array bounds{0.5, 1.0};
  Histogram histogram({"saccade_wait_seconds", "Wait."}, bounds);
  for (const double value : {0.5, 0.6, 7.0, std::numeric_limits<double>::quiet_NaN()}) {
    histogram.observe(value);
  }
  EXPECT_EQ(written(histogram),
            "# HELP saccade_wait_seconds Wait.\n# TYPE saccade_wait_seconds histogram\n"
            "saccade_wait_seconds_bucket{le=\"0.5\"} 1\n"
            "saccade_wait_seconds_bucket{le=\"1\"} 2\n"
            "saccade_wait_seconds_bucket{le=\"+Inf\"} 3\n"
            "saccade_wait_seconds_sum 8.1\nsaccade_wait_seconds_count 3\n");
}

TEST(Metrics, TheNumberOfSeriesIsBounded) {
  Counter counter({"saccade_things_total", "Things.", {"kind"}});
  for (int i = 0; i < 10'000; ++i) counter.add({std::to_string(i)});
  const std::string text = written(counter);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 2 + 257);
  EXPECT_NE(text.find("{kind=\"other\"} 9744\n"), std::string::npos) << text.substr(0, 200);
}

}  // namespace
}  // namespace saccade::telemetry
