#include "attend/attend.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace saccade::attend {
namespace {

using core::MediaDuration;
using core::MediaTime;

perceive::SeenView view(int row, int column, int tokens) {
  auto encoded = std::make_shared<engine::EncodedView>();
  encoded->tokens = tokens;
  perceive::SeenView seen;
  seen.place = {row, column};
  seen.encoded = encoded;
  return seen;
}

perceive::Utterance said(std::uint64_t id, const std::string& text, std::int64_t end_ms) {
  perceive::Utterance u;
  u.id = id;
  u.words = {{" " + text, {}, {}, 1.0F}};
  u.start = MediaTime::from_us((end_ms - 500) * 1000);
  u.end = MediaTime::from_us(end_ms * 1000);
  u.final = true;
  return u;
}

perceive::TextTrack written(const std::string& text, std::int64_t first_ms) {
  perceive::TextTrack track;
  track.line.text = text;
  track.first = MediaTime::from_us(first_ms * 1000);
  return track;
}

perceive::Percept percept_at(std::int64_t ms) {
  perceive::Percept percept;
  percept.moment.time = MediaTime::from_us(ms * 1000);
  percept.moment.span = MediaDuration::from_ms(200);
  percept.moment.knobs = std::make_shared<core::Knobs>();
  ingest::Frame frame;
  frame.captured = core::SteadyTime{77};
  percept.moment.picture = frame;
  percept.views = {view(0, 0, 64)};
  return percept;
}

Attender attender_with(AttendOptions options) {
  if (options.prompts.empty()) options.prompts = {{StandingPrompt::Kind::kAnswer, "p", "What?"}};
  auto made = Attender::make(std::move(options));
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

// A turn as one string: texts as they are, views as [tokens].
std::string shown(const engine::ChatTurn& turn) {
  std::string out;
  for (const engine::ChatPart& part : turn.parts) {
    if (const auto* text = std::get_if<std::string>(&part.content)) {
      out += *text;
    } else {
      out += "[" + std::to_string(std::get<engine::EncodedViewPtr>(part.content)->tokens) + "]";
    }
  }
  return out;
}

TEST(Attend, OneFocusPerPromptWithTheMomentsTimes) {
  AttendOptions options;
  options.prompts = {{StandingPrompt::Kind::kAnswer, "a", "What do you see?"},
                     {StandingPrompt::Kind::kAlert, "b", "Is there smoke?"}};
  Attender attender = attender_with(options);
  const auto foci = attender.attend(percept_at(1000));
  ASSERT_EQ(foci.size(), 2U);
  ASSERT_EQ(foci[0].turns.size(), 1U);
  EXPECT_EQ(shown(foci[0].turns[0]), "[64]What do you see?");
  EXPECT_EQ(shown(foci[1].turns[0]), "[64]Is there smoke?");
  EXPECT_EQ(foci[1].prompt.kind, StandingPrompt::Kind::kAlert);
  EXPECT_EQ(foci[0].visual_tokens, 64);
  EXPECT_EQ(foci[0].visual_tokens_full, 64);
  EXPECT_EQ(foci[0].time.us(), 1'000'000);
  EXPECT_EQ(foci[0].end.us(), 1'200'000);
  EXPECT_EQ(foci[0].captured.us, 77);
  EXPECT_NE(foci[0].knobs, nullptr);
}

TEST(Attend, NothingForAnUnchangedOrUnseenPicture) {
  Attender attender = attender_with({});
  perceive::Percept still = percept_at(0), blind = percept_at(0);
  still.unchanged = true;
  blind.views.clear();
  EXPECT_TRUE(attender.attend(still).empty());
  EXPECT_TRUE(attender.attend(blind).empty());
}

TEST(Attend, TilesComeBeforeTheGlobalViewAndSystemTextFirst) {
  AttendOptions options;
  options.system = "Be brief.";
  Attender attender = attender_with(options);
  perceive::Percept percept = percept_at(0);
  percept.views = {view(0, 0, 64), view(1, 1, 11), view(2, 3, 23)};
  const auto foci = attender.attend(percept);
  ASSERT_EQ(foci.size(), 1U);
  ASSERT_EQ(foci[0].turns.size(), 2U);
  EXPECT_EQ(foci[0].turns[0].role, engine::ChatTurn::Role::kSystem);
  EXPECT_EQ(shown(foci[0].turns[0]), "Be brief.");
  EXPECT_EQ(shown(foci[0].turns[1]), "[11][23][64]What?");
  EXPECT_EQ(foci[0].visual_tokens, 98);
}

TEST(Attend, ScreenTextThenRecentSpeechBeforeTheQuestion) {
  Attender attender = attender_with({});
  perceive::Percept percept = percept_at(60'000);
  percept.text_visible = {written("TEMP 73.5 C", 100), written("PUMP 2", 50)};
  attender.note_speech(said(1, "too long ago", 20'000));
  attender.note_speech(said(2, "pump two", 50'000));  // partial ...
  attender.note_speech(said(2, "pump two is running", 51'000));
  const auto foci = attender.attend(percept);
  ASSERT_EQ(foci.size(), 1U);
  EXPECT_EQ(shown(foci[0].turns[0]),
            "[64]Text on screen: \"TEMP 73.5 C\"\nText on screen: \"PUMP 2\"\n"
            "Heard: \"pump two is running\"\nWhat?");
}

TEST(Attend, SpeechOfAnUnchangedPerceptIsKeptForLater) {
  Attender attender = attender_with({});
  perceive::Percept still = percept_at(1000);
  still.unchanged = true;
  still.speech = {said(1, "warning", 900)};
  EXPECT_TRUE(attender.attend(still).empty());
  EXPECT_EQ(shown(attender.attend(percept_at(2000))[0].turns[0]), "[64]Heard: \"warning\"\nWhat?");
}

TEST(Attend, SpeechOfAnotherEpochIsNoContext) {
  Attender attender = attender_with({});
  attender.note_speech(said(1, "before the cut", 900));
  perceive::Percept percept = percept_at(0);
  percept.moment.time = MediaTime::from_us(1'000'000, 1);
  EXPECT_EQ(shown(attender.attend(percept)[0].turns[0]), "[64]What?");
}

TEST(Attend, ContextCanBeOffOrBounded) {
  perceive::Percept percept = percept_at(1000);
  for (int i = 0; i < 100; ++i) percept.text_visible.push_back(written(std::to_string(i), i));
  AttendOptions off;
  off.context_lines = false;
  EXPECT_EQ(shown(attender_with(off).attend(percept)[0].turns[0]), "[64]What?");
  AttendOptions two;
  two.context_lines_max = 2;
  EXPECT_EQ(shown(attender_with(two).attend(percept)[0].turns[0]),
            "[64]Text on screen: \"98\"\nText on screen: \"99\"\nWhat?");
  // One view, the newest 32 lines, the question.
  EXPECT_EQ(attender_with({}).attend(percept)[0].turns[0].parts.size(), 34U);
}

TEST(Attend, RefusesBadPrompts) {
  const auto code_of = [](std::vector<StandingPrompt> prompts) {
    AttendOptions options;
    options.prompts = std::move(prompts);
    return Attender::make(std::move(options)).error().code;
  };
  const auto kind = StandingPrompt::Kind::kAnswer;
  EXPECT_EQ(code_of({{kind, "a", ""}}), core::ErrorCode::kUsage);
  EXPECT_EQ(code_of({{kind, "a", std::string(16'385, 'x')}}), core::ErrorCode::kUsage);
  EXPECT_EQ(code_of({{kind, "", "What?"}}), core::ErrorCode::kUsage);
  EXPECT_EQ(code_of({{kind, "a", "What?"}, {kind, "a", "Why?"}}), core::ErrorCode::kUsage);
  std::vector<StandingPrompt> many;
  many.reserve(17);
  for (int i = 0; i < 17; ++i) many.push_back({kind, std::to_string(i), "What?"});
  EXPECT_EQ(code_of(many), core::ErrorCode::kExhausted);
}

// Pictures must stay where they were put between the texts (vllm-project/vllm#15125).
TEST(Question, KeepsTheOrderOfTextsAndPictures) {
  Question question;
  question.turns = {{engine::ChatTurn::Role::kUser,
                     {"first:", QuestionMedium{{view(0, 0, 10)}, {}, {}}, "second:",
                      QuestionMedium{{view(0, 0, 20), view(1, 1, 21)}, {"EXIT"}, {"hello"}}, "end.",
                      "", "Which is larger?"}}};
  const auto focus = make_question_focus(question);
  ASSERT_TRUE(focus.ok());
  EXPECT_EQ(shown(focus->turns[0]),
            "first:[10]second:[21][20]Text on screen: \"EXIT\"\nHeard: \"hello\"\nend."
            "Which is larger?");
  EXPECT_EQ(focus->visual_tokens, 51);
  EXPECT_EQ(focus->prompt.text, "Which is larger?");
}

TEST(Question, SeveralPicturesOfOneMediumKeepTheirTilesTogether) {
  Question question;
  question.turns = {{engine::ChatTurn::Role::kUser,
                     {QuestionMedium{{view(0, 0, 10), view(1, 1, 11), view(0, 0, 20),
                                      view(0, 0, 30), view(1, 2, 31)},
                                     {},
                                     {}},
                      "?"}}};
  EXPECT_EQ(shown(make_question_focus(question)->turns[0]), "[11][10][20][31][30]?");
}

TEST(Question, HasLimits) {
  Question question;
  EXPECT_EQ(make_question_focus(question).error().code, core::ErrorCode::kUsage);
  QuestionTurn& turn = question.turns.emplace_back();
  turn.parts.assign(64, QuestionMedium{});
  EXPECT_TRUE(make_question_focus(question).ok());
  turn.parts.emplace_back(QuestionMedium{});
  EXPECT_EQ(make_question_focus(question).error().code, core::ErrorCode::kExhausted);
  turn.parts = {std::string()};
  EXPECT_EQ(make_question_focus(question).error().code, core::ErrorCode::kUsage);
  turn.parts = {std::string(core::limits::kConversationBytesMax + 1, 'x')};
  EXPECT_EQ(make_question_focus(question).error().code, core::ErrorCode::kUsage);
}

TEST(Question, AConversationKeepsItsTurns) {
  using Role = engine::ChatTurn::Role;
  Question question;
  question.turns = {{Role::kSystem, {"Be short."}},
                    {Role::kUser, {QuestionMedium{{view(0, 0, 10)}, {}, {}}, "What is it?"}},
                    {Role::kAssistant, {"A lamp."}},
                    {Role::kUser, {"Is it on?"}}};
  const auto focus = make_question_focus(question);
  ASSERT_TRUE(focus.ok());
  ASSERT_EQ(focus->turns.size(), 4U);
  EXPECT_EQ(focus->turns[2].role, Role::kAssistant);
  EXPECT_EQ(shown(focus->turns[1]), "[10]What is it?");
  EXPECT_EQ(focus->prompt.text, "Is it on?");
}

TEST(Attend, OtherPromptsHoldFromTheNextPerceptAndBadOnesChangeNothing) {
  Attender attender = attender_with({});
  ASSERT_TRUE(attender.set_prompts({{StandingPrompt::Kind::kAnswer, "q", "Why?"}}).ok());
  EXPECT_EQ(attender.attend(percept_at(0)).front().prompt.id, "q");
  EXPECT_FALSE(attender.set_prompts({{StandingPrompt::Kind::kAnswer, "", "Why?"}}).ok());
  EXPECT_EQ(attender.attend(percept_at(200)).front().prompt.id, "q");
}

TEST(Attend, AWindowIsAPromptWithoutAQuestion) {
  const Focus window = attender_with({}).window(percept_at(400));
  EXPECT_EQ(shown(window.turns.back()), "[64]");
  EXPECT_EQ(window.visual_tokens, 64);
  EXPECT_EQ(window.captured.us, 77);
}

}  // namespace
}  // namespace saccade::attend
