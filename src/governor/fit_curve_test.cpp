#include "governor/fit_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"

namespace saccade::governor {
namespace {

TEST(FitCurve, FindsAPlantedBatchCurveAndItsErrorOnSizesLeftOut) {
  core::Rng rng(4);
  const BatchCurve planted{{3, 8, 0.05, 20}};
  std::vector<Point> points;
  for (const double batch : {1, 2, 4, 8, 12, 16, 24, 32}) {
    for (int i = 0; i < 5; ++i) {
      points.push_back({batch, planted.at(batch) * (0.98 + 0.04 * rng.uniform())});
    }
  }
  const auto fit = fit_batch_curve(points);
  ASSERT_TRUE(fit.ok());
  EXPECT_GT(fit->r2, 0.99);
  EXPECT_LT(fit->held_out_mape, 0.1);
  for (const double batch : {3, 10, 20}) {
    EXPECT_NEAR(fit->curve.at(batch), planted.at(batch), 0.04 * planted.at(batch));
  }
}

TEST(FitCurve, RefusesTooFewBatchSizesAndNoNumbers) {
  const std::vector<Point> few = {{1, 1}, {1, 1.1}, {2, 2}, {4, 4}, {8, 9}};
  EXPECT_FALSE(fit_batch_curve(few).ok());
  const std::vector<Point> bad = {{1, 1}, {2, NAN}, {4, 4}, {8, 9}, {16, 20}};
  EXPECT_FALSE(fit_batch_curve(bad).ok());
}

TEST(FitCurve, FindsAPowerLawAndInvertsItInsideItsRange) {
  std::vector<Point> points;
  for (const double side : {96, 128, 192, 512})
    points.push_back({side, 0.003 * std::pow(side, 1.8)});
  const auto law = fit_power_law(points);
  ASSERT_TRUE(law.ok());
  EXPECT_NEAR(law->g, 1.8, 1e-9);
  EXPECT_NEAR(law->invert(law->at(150), 96, 512), 150, 1e-6);
  EXPECT_EQ(law->invert(1e9, 96, 512), 512);
  EXPECT_EQ(law->invert(-1, 96, 512), 96);
  EXPECT_FALSE(fit_power_law(std::vector<Point>{{1, 1}, {1, 2}}).ok());
}

}  // namespace
}  // namespace saccade::governor
