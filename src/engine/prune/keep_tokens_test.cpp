// What is kept, and that a reduced picture reads as the whole one with the rest hidden.
#include "engine/prune/keep_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/rng.h"
#include "engine/llama/mini_model.h"

namespace saccade::engine::prune {
namespace {

// A grid of like tokens; some are made unlike the others.
VisualSpanPtr grid(int columns, int rows, const std::vector<int>& odd, std::uint64_t seed = 1) {
  auto span = std::make_shared<VisualSpan>();
  core::Rng rng(seed);
  span->width = 16;
  span->columns = columns;
  span->tokens = span->whole = columns * rows;
  for (int t = 0; t < span->tokens; ++t) {
    const bool special = std::find(odd.begin(), odd.end(), t) != odd.end();
    for (int i = 0; i < span->width; ++i) {
      const float noise = static_cast<float>(rng.between(-100, 100)) / 1000;
      span->embeddings.push_back((special ? (i == t % 16 ? 4.0F : -1.0F) : 1.0F) + noise);
    }
  }
  return span;
}

TEST(KeepTokensTest, CountsAreExactSortedAndDistinctForEveryMethod) {
  const auto span = grid(8, 8, {3, 40});
  for (const auto method : {KeepMethod::kSalient, KeepMethod::kUniform, KeepMethod::kRandom}) {
    for (const float share : {0.01F, 0.1F, 0.25F, 0.5F, 0.77F, 1.0F}) {
      const auto kept = keep_tokens(*span, {share, method});
      ASSERT_TRUE(kept.ok());
      EXPECT_EQ(static_cast<int>(kept->size()), keep_count(64, share));
      EXPECT_TRUE(std::is_sorted(kept->begin(), kept->end()));
      EXPECT_EQ(std::set<int>(kept->begin(), kept->end()).size(), kept->size());
      EXPECT_TRUE(kept->front() >= 0 && kept->back() < 64);
    }
  }
}

TEST(KeepTokensTest, WhatIsUnlikeTheRestIsKept) {
  const std::vector<int> odd{5, 22, 51};
  const auto kept = keep_tokens(*grid(8, 8, odd), {0.2F});
  ASSERT_TRUE(kept.ok());
  for (const int token : odd) EXPECT_TRUE(std::binary_search(kept->begin(), kept->end(), token));
}

TEST(KeepTokensTest, EveryPartOfThePictureKeepsSomething) {
  // All that is odd stands in the first row.
  const auto kept = keep_tokens(*grid(9, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}), {0.2F});
  ASSERT_TRUE(kept.ok());
  std::set<int> blocks;
  for (const int token : *kept) blocks.insert(token / 9 / 3 * 3 + token % 9 / 3);
  EXPECT_EQ(blocks.size(), 9U);
}

TEST(KeepTokensTest, TokensUnderTextStay) {
  KeepOptions options;
  options.share = 0.25F;
  options.always = {9, 10, 11, 60};
  const auto kept = keep_tokens(*grid(8, 8, {}), options);
  ASSERT_TRUE(kept.ok());
  for (const int token : options.always) {
    EXPECT_TRUE(std::binary_search(kept->begin(), kept->end(), token));
  }
}

TEST(KeepTokensTest, AnAttentionSinkIsNoReasonToKeep) {
  const auto plain = grid(8, 8, {});
  auto span = std::make_shared<VisualSpan>(*plain);
  // 20 is looked at by some, 30 by all alike.
  span->received.assign(64, 0.5F);
  span->spread.assign(64, 0.5F);
  span->received[20] = span->received[30] = 9;
  span->spread[30] = 1.0F;
  KeepOptions options;
  options.share = 0.25F;
  options.high = 0.95F;
  options.spread_max = 0.9F;
  const auto with = keep_tokens(*span, options);
  ASSERT_TRUE(with.ok());
  EXPECT_TRUE(std::binary_search(with->begin(), with->end(), 20));
}

TEST(KeepTokensTest, RefusesWhatIsOutOfRange) {
  const auto span = grid(4, 4, {});
  for (const float share : {0.0F, -1.0F, 1.5F, std::nanf("")}) {
    EXPECT_EQ(keep_tokens(*span, {share}).error().code, core::ErrorCode::kUsage);
  }
  KeepOptions options;
  options.always = {16};
  EXPECT_EQ(keep_tokens(*span, options).error().code, core::ErrorCode::kUsage);
}

class ReducedViewTest : public ::testing::Test {
 protected:
  EncodedViewPtr encode(std::uint64_t seed) {
    auto view = pair_.vision->encode(test::draw(seed).view(), {});
    EXPECT_TRUE(view.ok());
    return std::move(view).value();
  }
  std::vector<float> scores(const EncodedViewPtr& view) {
    const auto prompt = pair_.language->render({test::user_turn({view}, "What do you see?")});
    EXPECT_TRUE(prompt.ok());
    const auto status = pair_.language->start(*prompt, {});
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
    const auto out = pair_.language->score_first({" a", " the", "yes", "no", "red", "1", "two"});
    EXPECT_TRUE(out.ok());
    return *out;
  }
  VisionLanguage pair_ = test::load_mini(Engine::kNative);
};

TEST_F(ReducedViewTest, KeepingAllIsTheSameViewAndTheSameBits) {
  const auto view = encode(3);
  const auto all = reduce_view(view, {1.0F});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ((*all)->tokens, view->tokens);
  EXPECT_EQ(scores(*all), scores(view));
}

// Positions are kept: the tokens behind the picture stand where they stand after the whole picture.
// A picture whose left-out tokens are copies of a kept neighbour would differ; one with gaps must
// equal the same tokens read with other cells in any order.
TEST_F(ReducedViewTest, PositionsStayWhereTheyWere) {
  const auto view = encode(4);
  const auto half = reduce_view(view, {0.5F, KeepMethod::kUniform});
  ASSERT_TRUE(half.ok());
  const auto& span = *std::get<VisualSpanPtr>((*half)->segments.at(1));
  EXPECT_EQ(span.tokens, 20);  // 18 of 36, up to a multiple of four
  EXPECT_EQ(span.whole, 36);
  // Renumbering (what must not happen) gives another distribution.
  auto renumbered = std::make_shared<VisualSpan>(span);
  renumbered->kept.clear();
  renumbered->whole = renumbered->tokens;
  auto wrong = std::make_shared<EncodedView>(**half);
  wrong->segments[1] = VisualSpanPtr(renumbered);
  const auto right = scores(*half);
  EXPECT_NE(right, scores(wrong));
  EXPECT_EQ(right, scores(*half));
}

TEST_F(ReducedViewTest, LibllamaRefusesAReducedPicture) {
  auto llama = test::load_mini(Engine::kLlama);
  const auto view = llama.vision->encode(test::draw(5).view(), {});
  ASSERT_TRUE(view.ok());
  const auto half = reduce_view(*view, {0.5F, KeepMethod::kUniform});
  ASSERT_TRUE(half.ok());
  const auto prompt = llama.language->render({test::user_turn({*half}, "What?")});
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(llama.language->start(*prompt, {}).error().code, core::ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace saccade::engine::prune
