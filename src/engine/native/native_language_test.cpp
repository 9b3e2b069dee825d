// Our decoder against libllama: greedy answers, distributions, sessions side by side.
#include "engine/native/native_language.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "core/rng.h"
#include "engine/llama/mini_model.h"
#include "engine/test_models/random_model.h"

namespace saccade::engine::native {
namespace {

constexpr int kPrompts = 200, kAnswerTokens = 64;
// Two words this close are a tie that rounding decides: libllama rounds activations to F16, we to
// 13 bits of their block's largest.
constexpr double kTieNats = 0.01;

// A text prompt of random words.
Prompt random_prompt(core::Rng& rng, int vocabulary) {
  Prompt prompt;
  std::vector<TokenId> ids(static_cast<std::size_t>(rng.between(1, 40)));
  for (auto& id : ids) id = static_cast<TokenId>(rng.between(100, vocabulary - 1));
  prompt.tokens = static_cast<int>(ids.size());
  prompt.pieces.emplace_back(std::move(ids));
  return prompt;
}

std::vector<StepResult> answer(LanguageModel& model, const Prompt& prompt, int tokens) {
  EXPECT_TRUE(model.start(prompt, {}).ok());
  std::vector<StepResult> out;
  for (int i = 0; i < tokens; ++i) {
    auto step = model.step();
    EXPECT_TRUE(step.ok()) << step.error().message;
    if (!step.ok()) break;
    out.push_back(*step);
    if (step->end) break;
  }
  return out;
}

// One worker: tests run side by side. Room for two whole sessions.
std::unique_ptr<LanguageModel> load_text(const std::string& path, Engine engine) {
  LoadOptions options;
  options.model_path = path;
  options.threads = 1;
  options.context_tokens = 512;
  options.sessions = 2;
  options.engine = engine;
  auto loaded = load_vision_language(options);
  if (!loaded) throw std::runtime_error(loaded.error().message);
  return std::move(loaded->language);
}

struct Kind {
  const char* architecture;
  bool f16, tied;
};

class DecoderParityTest : public ::testing::TestWithParam<Kind> {};

TEST_P(DecoderParityTest, GreedyAnswersEqualLibllamas) {
  const Kind kind = GetParam();
  const std::string path = ::testing::TempDir() + "decoder-" + kind.architecture +
                           (kind.f16 ? "-f16" : "-f32") + (kind.tied ? "" : "-untied") + ".gguf";
  test::DecoderFile file;
  file.architecture = kind.architecture;
  file.f16 = kind.f16;
  file.tied = kind.tied;
  file.vocabulary = test::kMiniText;
  test::write_decoder(path, file);
  const auto ours = load_text(path, Engine::kNative);
  const auto theirs = load_text(path, Engine::kLlama);

  core::Rng rng(5);
  int same = 0, ties = 0;
  for (int i = 0; i < kPrompts; ++i) {
    const Prompt prompt = random_prompt(rng, 700);
    const auto a = answer(*ours, prompt, kAnswerTokens);
    const auto b = answer(*theirs, prompt, kAnswerTokens);
    ASSERT_FALSE(a.empty());
    EXPECT_NEAR(a[0].logprob, b[0].logprob, 0.02);
    EXPECT_NEAR(a[0].entropy, b[0].entropy, 0.02);
    std::size_t at = 0;
    while (at < a.size() && at < b.size() && a[at].id == b[at].id) ++at;
    if (at == a.size() && at == b.size()) {
      ++same;
    } else if (std::abs(a[at].logprob - b[at].logprob) < kTieNats) {
      ++ties;
    }
  }
  EXPECT_EQ(same + ties, kPrompts);
  EXPECT_GE(same, kPrompts * 85 / 100);  // random heads have many ties
  std::remove(path.c_str());
}

INSTANTIATE_TEST_SUITE_P(Families, DecoderParityTest,
                         ::testing::Values(Kind{"llama", false, true}, Kind{"llama", true, true},
                                           Kind{"llama", true, false}, Kind{"qwen2", false, true},
                                           Kind{"qwen2", true, false}, Kind{"qwen2vl", true, true},
                                           Kind{"qwen2vl", false, false},
                                           Kind{"qwen3", false, true}, Kind{"qwen3", true, true}));

class SessionsTest : public ::testing::Test {
 protected:
  std::unique_ptr<LanguageModel> model_ = load_text(test::kMiniText, Engine::kNative);
};

TEST_F(SessionsTest, AWarmPromptAnswersLikeAColdOne) {
  core::Rng rng(9);
  Prompt prompt = random_prompt(rng, 700);
  for (int turn = 0; turn < 8; ++turn) {
    const auto warm = answer(*model_, prompt, 20);
    const auto fresh = model_->another();
    ASSERT_TRUE(fresh.ok());
    const auto cold = answer(**fresh, prompt, 20);
    ASSERT_EQ(warm.size(), cold.size());
    for (std::size_t i = 0; i < warm.size(); ++i) {
      EXPECT_EQ(warm[i].id, cold[i].id);
      EXPECT_NEAR(warm[i].logprob, cold[i].logprob, kTieNats);
    }
    auto& ids = std::get<std::vector<TokenId>>(prompt.pieces[0]);
    for (int i = 0; i < 12; ++i) ids.push_back(static_cast<TokenId>(rng.between(100, 700)));
    prompt.tokens += 12;
  }
}

TEST_F(SessionsTest, EightSessionsSideBySideAnswerAsAlone) {
  constexpr int kSessions = 8;
  std::vector<Prompt> prompts;
  std::vector<std::vector<StepResult>> alone, together(kSessions);
  core::Rng rng(11);
  for (int i = 0; i < kSessions; ++i) {
    prompts.push_back(random_prompt(rng, 700));
    alone.push_back(answer(*model_, prompts.back(), 30));
  }
  std::vector<std::unique_ptr<LanguageModel>> sessions;
  sessions.reserve(kSessions);
  for (int i = 0; i < kSessions; ++i) sessions.push_back(std::move(model_->another()).value());
  std::vector<std::thread> threads;
  threads.reserve(kSessions);
  for (int i = 0; i < kSessions; ++i) {
    threads.emplace_back([&, i] {
      together[static_cast<std::size_t>(i)] =
          answer(*sessions[static_cast<std::size_t>(i)], prompts[static_cast<std::size_t>(i)], 30);
    });
  }
  for (auto& t : threads) t.join();
  for (std::size_t i = 0; i < kSessions; ++i) {
    ASSERT_EQ(together[i].size(), alone[i].size());
    for (std::size_t k = 0; k < alone[i].size(); ++k) {
      EXPECT_EQ(together[i][k].id, alone[i][k].id);
    }
  }
}

TEST_F(SessionsTest, ScoringLeavesTheAnswerAsItWas) {
  core::Rng rng(13);
  const Prompt prompt = random_prompt(rng, 700);
  const auto expected = answer(*model_, prompt, 10);
  ASSERT_TRUE(model_->start(prompt, {}).ok());
  const auto scores = model_->score_first({"yes.", "no.", "yes, red"});
  ASSERT_TRUE(scores.ok()) << scores.error().message;
  double sum = 0;
  for (const float s : *scores) sum += std::exp(static_cast<double>(s));
  EXPECT_NEAR(sum, 1.0, 1e-5);
  for (const auto& step : expected) {
    const auto got = model_->step();
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(got->id, step.id);
  }
}

TEST_F(SessionsTest, AFullMemoryIsAnErrorAndTheOthersLive) {
  // 1024 cells in all, 512 a session: the third long prompt finds no room.
  core::Rng rng(17);
  Prompt prompt;
  prompt.pieces.emplace_back(std::vector<TokenId>(480, 300));
  prompt.tokens = 480;
  std::vector<std::unique_ptr<LanguageModel>> sessions;
  sessions.reserve(3);
  for (int i = 0; i < 3; ++i) sessions.push_back(std::move(model_->another()).value());
  EXPECT_TRUE(sessions[0]->start(prompt, {}).ok());
  EXPECT_TRUE(sessions[1]->start(prompt, {}).ok());
  const auto full = sessions[2]->start(prompt, {});
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, core::ErrorCode::kExhausted);
  EXPECT_TRUE(sessions[0]->step().ok());
  sessions[1].reset();  // its cells come back
  EXPECT_TRUE(sessions[2]->start(prompt, {}).ok());
}

TEST_F(SessionsTest, TooManySequencesAreRefused) {
  std::vector<std::unique_ptr<LanguageModel>> sessions;
  for (int i = 1; i < kv::kSequencesMax; ++i) {
    auto next = model_->another();
    ASSERT_TRUE(next.ok());
    sessions.push_back(std::move(next).value());
  }
  const auto refused = model_->another();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, core::ErrorCode::kExhausted);
}

}  // namespace
}  // namespace saccade::engine::native
