#include "governor/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/rng.h"

namespace saccade::governor {
namespace {

StepShape random_shape(core::Rng& rng) {
  return {.views = std::floor(rng.uniform() * 6),
          .prompt_tokens = std::floor(rng.uniform() * 400),
          .new_tokens = std::floor(rng.uniform() * 32),
          .company = rng.uniform() * 3};
}

double planted_ms(const StepShape& s) {
  return 5 + 12 * s.views + 0.1 * s.prompt_tokens + 2 * s.new_tokens + 9 * s.company;
}

TEST(CostModel, FindsPlantedPricesThroughNoise) {
  core::Rng rng(1);
  CostModel model;
  for (int i = 0; i < 600; ++i) {
    const StepShape shape = random_shape(rng);
    model.observe(shape, planted_ms(shape) * (0.9 + 0.2 * rng.uniform()));
  }
  double off = 0;
  for (int i = 0; i < 200; ++i) {  // shapes it has not seen
    const StepShape shape = random_shape(rng);
    off += std::abs(model.predict(shape).p50_ms - planted_ms(shape)) / planted_ms(shape) / 200;
  }
  EXPECT_LT(off, 0.05);
  EXPECT_GT(model.mape(), 0.02);  // the noise that nobody can predict
  EXPECT_LT(model.mape(), 0.08);
  const StepShape some{.views = 3, .prompt_tokens = 200, .new_tokens = 16, .company = 1};
  const Prediction needed = model.predict(some);
  EXPECT_TRUE(needed.known);
  EXPECT_GT(needed.p99_ms, needed.p50_ms);
  EXPECT_NEAR(needed.p99_ms, planted_ms(some) * 1.1, planted_ms(some) * 0.08);
}

TEST(CostModel, NoPriceIsNegativeEvenWhereWorkSeemsToSaveTime) {
  core::Rng rng(2);
  CostModel model;
  for (int i = 0; i < 300; ++i) {
    const StepShape shape = random_shape(rng);
    model.observe(shape, std::max(1.0, 100 - 10 * shape.views + rng.uniform()));
  }
  for (const double price : model.prices()) EXPECT_GE(price, 0);
}

TEST(CostModel, FollowsADeviceThatBecameSlower) {
  core::Rng rng(3);
  CostModel model;
  for (int i = 0; i < 200; ++i) {
    const StepShape shape = random_shape(rng);
    model.observe(shape, planted_ms(shape));
  }
  for (int i = 0; i < 300; ++i) {
    const StepShape shape = random_shape(rng);
    model.observe(shape, 2 * planted_ms(shape));
  }
  const StepShape some{.views = 2, .prompt_tokens = 100, .new_tokens = 8, .company = 0};
  EXPECT_NEAR(model.predict(some).p50_ms, 2 * planted_ms(some), 0.15 * planted_ms(some));
}

TEST(CostModel, LeavesOutWhatIsNoNumberAndSaysSo) {
  CostModel model;
  model.observe({.views = 1}, std::numeric_limits<double>::quiet_NaN());
  model.observe({.views = -1}, 5);
  model.observe({.views = std::numeric_limits<double>::infinity()}, 5);
  EXPECT_EQ(3U, model.refused());
  EXPECT_EQ(0U, model.steps());
  EXPECT_FALSE(model.predict({.views = 1}).known);
}

TEST(CostModel, StartsFromPricesOfAnEarlierRun) {
  const CostModel model = CostModel::from_prices({5, 12, 0.1, 2, 9});
  const StepShape some{.views = 1, .prompt_tokens = 100, .new_tokens = 10, .company = 1};
  EXPECT_TRUE(model.predict(some).known);
  EXPECT_NEAR(model.predict(some).p50_ms, planted_ms(some), 1e-6);
}

}  // namespace
}  // namespace saccade::governor
