#include "decode/decode.h"

#include <gtest/gtest.h>

#include <cmath>

#include "decode/fake_language_model.h"
#include "engine/load.h"

namespace saccade::decode {
namespace {

attend::Focus focus_of(const std::string& question, int tokens_max = 64) {
  attend::Focus focus;
  focus.time = core::MediaTime::from_us(2'000'000, 3);
  core::Knobs knobs;
  knobs.max_new_tokens = tokens_max;
  focus.knobs = std::make_shared<const core::Knobs>(knobs);
  engine::ChatTurn turn;
  turn.parts.emplace_back().content = question;
  focus.turns.push_back(turn);
  return focus;
}

struct Collected {
  std::vector<Token> tokens;
  std::string text() const {
    std::string out;
    for (const auto& token : tokens) out += token.bytes;
    return out;
  }
  int finishes() const {
    int n = 0;
    for (const auto& token : tokens) n += token.finish != FinishReason::kNone;
    return n;
  }
};

class DecodeTest : public ::testing::Test {
 protected:
  core::Status run(attend::Focus& focus, AnswerOptions options = {}) {
    options.answer = 7;
    Decoder decoder(model_, clock_);
    return decoder.answer(focus, options, [this](const Token& token) {
      out_.tokens.push_back(token);
      clock_.advance_us(1000);
      return true;
    });
  }
  FakeLanguageModel model_;
  core::ManualClock clock_;
  Collected out_;
};

TEST_F(DecodeTest, AnAnswerEndsWithOneFinishTokenAndTellsItsTime) {
  model_.pieces = {" a", " red", " lamp"};
  auto focus = focus_of("?");
  ASSERT_TRUE(run(focus).ok());
  ASSERT_EQ(out_.tokens.size(), 4U);
  EXPECT_EQ(out_.text(), " a red lamp");
  EXPECT_EQ(out_.finishes(), 1);
  EXPECT_EQ(out_.tokens.back().finish, FinishReason::kStop);
  EXPECT_TRUE(out_.tokens.back().bytes.empty());
  EXPECT_EQ(out_.tokens.back().answer, 7U);
  EXPECT_EQ(out_.tokens.front().epoch, 3U);
  EXPECT_DOUBLE_EQ(out_.tokens[1].decode_ms, 1.0);
  EXPECT_DOUBLE_EQ(out_.tokens.back().decode_ms, 3.0);
}

TEST_F(DecodeTest, TheKnobsEndALongAnswer) {
  model_.pieces.assign(100, "x");
  auto focus = focus_of("?", 5);
  ASSERT_TRUE(run(focus).ok());
  EXPECT_EQ(out_.text(), "xxxxx");
  EXPECT_EQ(out_.tokens.back().finish, FinishReason::kLength);
  EXPECT_EQ(out_.finishes(), 1);
}

TEST_F(DecodeTest, AStopStringOverTokensEndsGenerationAtOnce) {
  model_.pieces = {"one", " ST", "OP", " never"};
  auto focus = focus_of("?");
  AnswerOptions options;
  options.stops = {"STOP"};
  ASSERT_TRUE(run(focus, options).ok());
  EXPECT_EQ(out_.text(), "one STOP");  // emit cuts the stop string itself
  EXPECT_EQ(model_.steps, 3);
  EXPECT_EQ(out_.tokens.back().finish, FinishReason::kStop);
}

TEST_F(DecodeTest, CancellingStopsTheModel) {
  model_.pieces.assign(50, "x");
  auto focus = focus_of("?");
  Decoder decoder(model_, clock_);
  int calls = 0;
  std::vector<FinishReason> reasons;
  ASSERT_TRUE(decoder
                  .answer(focus, {},
                          [&](const Token& token) {
                            reasons.push_back(token.finish);
                            return ++calls < 3;
                          })
                  .ok());
  EXPECT_EQ(model_.steps, 3);
  EXPECT_EQ(reasons.back(), FinishReason::kCancelled);
  EXPECT_EQ(reasons.size(), 4U);
}

TEST_F(DecodeTest, NumbersThatAreNoneEndTheAnswerAndTheNextOneWorks) {
  model_.pieces = {"so", " far"};
  model_.step_error = core::error(core::ErrorCode::kNumeric, "NaN\nin logits");
  auto focus = focus_of("?");
  const auto status = run(focus);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, core::ErrorCode::kNumeric);
  EXPECT_EQ(out_.finishes(), 1);
  EXPECT_EQ(out_.tokens.back().finish, FinishReason::kError);
  EXPECT_EQ(out_.tokens.back().error, "NaN in logits");
  model_.step_error.reset();
  out_.tokens.clear();
  ASSERT_TRUE(run(focus).ok());
  EXPECT_EQ(out_.tokens.back().finish, FinishReason::kStop);
}

TEST_F(DecodeTest, APromptThatDoesNotFitStillFinishesOnce) {
  model_.start_error = core::error(core::ErrorCode::kExhausted, "prompt has 9 tokens");
  auto focus = focus_of("?");
  EXPECT_FALSE(run(focus).ok());
  ASSERT_EQ(out_.tokens.size(), 1U);
  EXPECT_EQ(out_.tokens[0].finish, FinishReason::kError);
}

TEST_F(DecodeTest, BadStopStringsAreRefusedBeforeAnything) {
  auto focus = focus_of("?");
  AnswerOptions options;
  options.stops = {""};
  EXPECT_EQ(run(focus, options).error().code, core::ErrorCode::kUsage);
  EXPECT_EQ(model_.starts, 0);
  EXPECT_TRUE(out_.tokens.empty());
}

TEST_F(DecodeTest, AVerdictSumsTheWaysToWriteIt) {
  model_.scores = {{"Yes", std::log(0.2F)},
                   {" yes", std::log(0.1F)},
                   {"No", std::log(0.3F)},
                   {" NO", std::log(0.4F)}};
  auto focus = focus_of("Is it on?");
  const auto verdict = Decoder(model_, clock_).judge(focus);
  ASSERT_TRUE(verdict.ok());
  EXPECT_NEAR(verdict->probability, 0.3F, 1e-4F);
  EXPECT_FALSE(verdict->yes);
}

TEST(DecodeModelTest, TheBundledModelAnswersTheSameTwiceAndJudges) {
  engine::LoadOptions options;
  options.model_path = "models/mini/saccade-mini-text-f16.gguf";
  options.threads = 2;
  auto pair = engine::load_vision_language(options);
  ASSERT_TRUE(pair.ok()) << pair.error().message;
  core::ManualClock clock;
  Decoder decoder(*pair->language, clock);
  std::string texts[2];
  for (auto& text : texts) {
    auto focus = focus_of("How many shapes are there?", 16);
    int finishes = 0;
    ASSERT_TRUE(decoder
                    .answer(focus, {},
                            [&](const Token& token) {
                              text += token.bytes;
                              finishes += token.finish != FinishReason::kNone;
                              return true;
                            })
                    .ok());
    EXPECT_EQ(finishes, 1);
  }
  EXPECT_FALSE(texts[0].empty());
  EXPECT_EQ(texts[0], texts[1]);
  auto focus = focus_of("Is a lamp on?");
  const auto verdict = decoder.judge(focus);
  ASSERT_TRUE(verdict.ok()) << verdict.error().message;
  EXPECT_GT(verdict->probability, 0.0F);
  EXPECT_LT(verdict->probability, 1.0F);
}

}  // namespace
}  // namespace saccade::decode
