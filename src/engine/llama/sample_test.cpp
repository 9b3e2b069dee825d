#include "engine/llama/sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace saccade::engine::llama {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(SampleTest, GreedyTakesTheBestAndReportsItsProbability) {
  core::Rng rng(1);
  const std::vector<float> logits{0.0F, std::log(3.0F), -kInf};
  const auto out = sample(logits, {}, rng);
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->id, 1);
  EXPECT_NEAR(std::exp(out->logprob), 0.75, 1e-6);
  EXPECT_NEAR(out->entropy, -(0.75 * std::log2(0.75) + 0.25 * std::log2(0.25)), 1e-6);
}

TEST(SampleTest, RefusesLogitsThatAreNoNumbers) {
  core::Rng rng(1);
  const float nan = std::nanf("");
  EXPECT_FALSE(sample(std::vector<float>{0, nan, 1}, {}, rng).has_value());
  EXPECT_FALSE(sample(std::vector<float>{nan, nan}, {}, rng).has_value());
  EXPECT_FALSE(sample(std::vector<float>{0, kInf}, {}, rng).has_value());
  EXPECT_FALSE(sample(std::vector<float>{-kInf, -kInf}, {}, rng).has_value());
  EXPECT_FALSE(sample(std::vector<float>{}, {}, rng).has_value());
  EXPECT_FALSE(log_probability(std::vector<float>{0, nan}, 0).has_value());
  EXPECT_FALSE(log_probability(std::vector<float>{0, 1}, 2).has_value());
}

std::map<TokenId, int> draw_many(const std::vector<float>& logits, SamplingOptions options) {
  core::Rng rng(7);
  std::map<TokenId, int> counts;
  for (int i = 0; i < 20'000; ++i) ++counts[sample(logits, options, rng)->id];
  return counts;
}

TEST(SampleTest, TemperatureOneFollowsTheDistribution) {
  const std::vector<float> logits{std::log(0.5F), std::log(0.3F), std::log(0.2F)};
  SamplingOptions options;
  options.temperature = 1;
  const auto counts = draw_many(logits, options);
  EXPECT_NEAR(counts.at(0), 10'000, 400);
  EXPECT_NEAR(counts.at(1), 6'000, 400);
  EXPECT_NEAR(counts.at(2), 4'000, 400);
}

TEST(SampleTest, TopPAndMinPCutTheTail) {
  const std::vector<float> logits{std::log(0.5F), std::log(0.3F), std::log(0.15F), std::log(0.05F)};
  SamplingOptions options;
  options.temperature = 1;
  options.top_p = 0.7F;
  EXPECT_EQ(draw_many(logits, options).size(), 2U);
  options.top_p = 1;
  options.min_p = 0.25F;  // of 0.5: keeps 0.125 and above
  EXPECT_EQ(draw_many(logits, options).size(), 3U);
  options.top_p = 1e-6F;  // always keeps the best
  EXPECT_EQ(draw_many(logits, options).size(), 1U);
}

TEST(SampleTest, TheSameSeedDrawsTheSame) {
  std::vector<float> logits(50);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i % 7);
  SamplingOptions options;
  options.temperature = 0.8F;
  core::Rng a(3), b(3);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(sample(logits, options, a)->id, sample(logits, options, b)->id);
  }
}

}  // namespace
}  // namespace saccade::engine::llama
