#include "governor/policy.h"

#include <gtest/gtest.h>

namespace saccade::governor {
namespace {

core::Knobs asked() {
  core::Knobs knobs;
  knobs.fovea_tiles_max = 4;
  knobs.max_new_tokens = 64;
  return knobs;
}

TEST(Policy, TheDefaultIsThereAndAnUnknownOneNamesTheOthers) {
  EXPECT_TRUE(PolicyBook().find(kDefaultPolicy).ok());
  const auto missing = PolicyBook().find("fast");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(std::string::npos, missing.error().hint.find("max-quality"));
}

TEST(Policy, FullGivesWhatWasAskedFor) {
  const auto policy = PolicyBook().find("captions");
  const core::Knobs knobs =
      knobs_on(Rung::kFull, *policy, {.tiles = true, .prunes = true}, asked());
  EXPECT_EQ(4, knobs.fovea_tiles_max);
  EXPECT_EQ(1, knobs.keep_share);
  EXPECT_EQ(64, knobs.max_new_tokens);
}

// Each rung costs at most what the one before costs, for every policy.
TEST(Policy, EveryRungIsCheaper) {
  const PolicyBook book;
  for (const Policy& policy : book.all()) {
    const Abilities all{.tiles = true, .prunes = true};
    core::Knobs last = knobs_on(Rung::kFull, policy, all, asked());
    double last_pace = pace_on(Rung::kFull, policy);
    for (int rung = 1; rung < kRungs; ++rung) {
      const core::Knobs knobs = knobs_on(static_cast<Rung>(rung), policy, all, asked());
      EXPECT_LE(knobs.fovea_tiles_max, last.fovea_tiles_max) << policy.name;
      EXPECT_LE(knobs.keep_share, last.keep_share) << policy.name;
      EXPECT_LE(knobs.max_new_tokens, last.max_new_tokens) << policy.name;
      EXPECT_GE(knobs.change_threshold, last.change_threshold) << policy.name;
      EXPECT_GE(knobs.refresh_max, last.refresh_max) << policy.name;
      EXPECT_GE(knobs.read_interval_min, last.read_interval_min) << policy.name;
      EXPECT_LE(pace_on(static_cast<Rung>(rung), policy), last_pace) << policy.name;
      last = knobs;
      last_pace = pace_on(static_cast<Rung>(rung), policy);
    }
    EXPECT_GT(last.max_new_tokens, 0);
    EXPECT_GE(last.keep_share, core::kKeepShareMin);
  }
}

TEST(Policy, ReadingKeepsEveryPixelAndToken) {
  const auto policy = PolicyBook().find("reading");
  const core::Knobs knobs =
      knobs_on(Rung::kRefusing, *policy, {.tiles = true, .prunes = true}, asked());
  EXPECT_EQ(4, knobs.fovea_tiles_max);
  EXPECT_EQ(1, knobs.keep_share);
}

TEST(Policy, AModelThatReadsPicturesWholeIsNotAskedToPrune) {
  const auto policy = PolicyBook().find("captions");
  EXPECT_EQ(1, knobs_on(Rung::kRefusing, *policy, {}, asked()).keep_share);
}

TEST(Policy, LowPowerNeverStartsAboveItsRung) {
  const auto policy = PolicyBook().find("low-power");
  EXPECT_LT(knobs_on(Rung::kFull, *policy, {.prunes = true}, asked()).keep_share, 1);
}

TEST(PolicyBook, APolicyTakesThePlaceOfTheOneOfItsName) {
  PolicyBook book;
  const std::size_t before = book.all().size();
  Policy night = *book.find("captions");
  night.slo_ms = 700;
  ASSERT_TRUE(book.put(night).ok());
  night.name = "night";
  ASSERT_TRUE(book.put(night).ok());
  EXPECT_EQ(before + 1, book.all().size());
  EXPECT_EQ(700, book.find("captions")->slo_ms);
  for (int i = 0; book.all().size() < PolicyBook::kPoliciesMax; ++i) {
    night.name = std::to_string(i);
    ASSERT_TRUE(book.put(night).ok());
  }
  night.name = "one-more";
  EXPECT_EQ(core::ErrorCode::kExhausted, book.put(night).error().code);
}

}  // namespace
}  // namespace saccade::governor
