// The wiring as a whole: a real decode worker, stand-ins for the models, every event in hand.
#include "session/session.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "decode/fake_language_model.h"
#include "governor/governor.h"
#include "perceive/hear/fake_speech_model.h"
#include "perceive/see/fake_encoder.h"
#include "session/question.h"

namespace saccade::session {
namespace {

using emit::EventKind;

struct Kept final : emit::EventSink {
  void on_event(const emit::Event& event) override { events.push_back(event); }
  std::vector<emit::Event> of(EventKind kind) const {
    std::vector<emit::Event> out;
    for (const auto& event : events) {
      if (event.kind == kind) out.push_back(event);
    }
    return out;
  }
  double number(const std::string& name) const {
    for (const auto& [key, value] : events.back().numbers) {
      if (key == name) return value;
    }
    ADD_FAILURE() << "no number " << name;
    return -1;
  }
  std::vector<emit::Event> events;
};

// Three scenes of a second, and a sound that the stand-in detector takes for speech.
std::string clip() {
  static const std::string kPath = [] {
    // One per process: the cases run side by side.
    const auto file = std::filesystem::temp_directory_path() /
                      ("saccade-session-test-" + std::to_string(getpid()) + ".mkv");
    const std::string command =
        "ffmpeg -nostdin -v error -y -f lavfi -i color=red:s=160x120:r=10:d=1 "
        "-f lavfi -i color=blue:s=160x120:r=10:d=1 -f lavfi -i color=white:s=160x120:r=10:d=1 "
        "-f lavfi -i sine=f=300:d=3:r=16000 -filter_complex '[0][1][2]concat=n=3[v]' -map '[v]' "
        "-map 3 -c:v ffv1 -c:a pcm_s16le " +
        file.string();
    EXPECT_EQ(0, std::system(command.c_str()));
    return file.string();
  }();
  return kPath;
}

class SessionTest : public testing::Test {
 public:
  static void TearDownTestSuite() { std::filesystem::remove(clip()); }

 protected:
  SessionTest() {
    language.pieces = {" a", " colour"};
    options.source.url = clip();
    options.source.worker_path = SACCADE_DECODE_WORKER;
    options.source.fps = 10;
    options.prompts = {{attend::StandingPrompt::Kind::kAnswer, "caption", "What do you see?"}};
    options.senses = {.see = true, .read = false, .hear = true};
  }
  SessionModels models() {
    return {.vision = &encoder,
            .language = &language,
            .reader = nullptr,
            .voice = &voice,
            .speech = &speech};
  }
  std::unique_ptr<Session> open() {
    auto session = Session::open(options, models(), kept, clock, core::Rng(1));
    EXPECT_TRUE(session.ok()) << session.error().message;
    return session.ok() ? std::move(session).value() : nullptr;
  }

  core::SystemClock clock;
  perceive::FakeEncoder encoder;
  decode::FakeLanguageModel language;
  perceive::FakeSpeechModel speech;
  perceive::FakeVoiceDetector voice;
  SessionOptions options;
  Kept kept;
};

TEST_F(SessionTest, AFileIsSeenWholeAndOnlyChangesAreAnswered) {
  ASSERT_TRUE(open()->run().ok());
  EXPECT_EQ(30, kept.number("frames_seen"));
  EXPECT_EQ(27, kept.number("frames_unchanged"));
  EXPECT_EQ(3, kept.number("answers"));
  EXPECT_EQ(0, kept.number("dropped_busy"));
  EXPECT_EQ(3, encoder.calls());
  // The same words three times are one caption with one span.
  const auto captions = kept.of(EventKind::kCaption);
  ASSERT_EQ(2U, captions.size());
  EXPECT_EQ("a colour", captions.front().text);
  EXPECT_EQ(captions.front().id, captions.back().id);
  EXPECT_NEAR(2.9, captions.back().t1.seconds(), 0.11);
  EXPECT_GT(captions.front().stages[telemetry::Stage::kSee], 0);
}

TEST_F(SessionTest, SequenceNumbersRiseByOneAndStatsComeLast) {
  ASSERT_TRUE(open()->run().ok());
  for (std::size_t i = 0; i < kept.events.size(); ++i) EXPECT_EQ(i + 1, kept.events[i].seq);
  EXPECT_EQ(EventKind::kStats, kept.events.back().kind);
}

TEST_F(SessionTest, SpeechIsHeardBesideThePicture) {
  ASSERT_TRUE(open()->run().ok());
  std::map<std::string, int> finals;
  for (const auto& event : kept.of(EventKind::kSpeech)) finals[event.id] += event.final ? 1 : 0;
  ASSERT_FALSE(finals.empty());
  for (const auto& [id, count] : finals) EXPECT_EQ(1, count) << id;
}

TEST_F(SessionTest, SeveralPromptsAndAnAlertEachAnswer) {
  options.prompts.push_back({attend::StandingPrompt::Kind::kAnswer, "count", "How many?"});
  options.prompts.push_back({attend::StandingPrompt::Kind::kAlert, "red", "Is it red?"});
  ASSERT_TRUE(open()->run().ok());
  std::set<std::string> prompts;
  for (const auto& event : kept.events) prompts.insert(event.prompt);
  EXPECT_TRUE(prompts.count("caption") && prompts.count("count") && prompts.count("red"));
  EXPECT_FALSE(kept.of(EventKind::kAlert).empty());
}

TEST_F(SessionTest, AFailingEncoderIsToldAndDoesNotEndTheStream) {
  encoder.fail = true;
  ASSERT_TRUE(open()->run().ok());
  EXPECT_EQ(30, kept.number("frames_seen"));
  int told = 0;
  for (const auto& event : kept.of(EventKind::kStatus)) told += event.reason == "numeric_error";
  EXPECT_GE(told, 1);
}

TEST_F(SessionTest, AFailingModelIsToldAndDoesNotEndTheStream) {
  language.step_error = core::error(core::ErrorCode::kNumeric, "NaN in the logits");
  language.pieces.clear();
  ASSERT_TRUE(open()->run().ok());
  EXPECT_EQ(3, kept.number("answers_failed"));
}

TEST_F(SessionTest, StopFromAnotherThreadEndsALoopedRealtimeRun) {
  options.source.loop = true;
  options.source.realtime = true;
  const auto session = open();
  std::thread stopper([&] {
    while (session->position() < core::MediaTime::from_us(500'000)) clock.sleep_us(10'000);
    session->stop();
  });
  EXPECT_TRUE(session->run().ok());
  stopper.join();
  EXPECT_EQ(EventKind::kStats, kept.events.back().kind);
}

TEST_F(SessionTest, AGovernedStreamTellsItsRungAndAnswersInItsTurns) {
  options.source.realtime = true;
  options.governing = {.policy = "alert", .slo_ms = 500};
  ASSERT_TRUE(open()->run().ok());
  const auto told = kept.of(EventKind::kKnobs);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ("full", told.front().reason);
  EXPECT_FALSE(kept.of(EventKind::kCaption).empty());
  EXPECT_EQ(told.front().knobs, kept.of(EventKind::kCaption).front().knobs);
}

TEST_F(SessionTest, TwoStreamsShareAGovernorAndStoppingOneFreesTheOther) {
  governor::Governor governor(clock);
  options.source.loop = true;
  options.source.realtime = true;
  options.governing.slo_ms = 500;
  SessionModels shared = models();
  shared.governor = &governor;
  struct Nowhere final : emit::EventSink {
    void on_event(const emit::Event&) override {}
  } nowhere;
  auto first = Session::open(options, shared, nowhere, clock, core::Rng(1));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(1, governor.snapshot().streams);
  std::thread running([&] { EXPECT_TRUE((*first)->run().ok()); });
  while (governor.snapshot().answers == 0) clock.sleep_us(10'000);
  (*first)->stop();
  running.join();
  EXPECT_EQ(0, governor.snapshot().streams);
  EXPECT_EQ(0, governor.snapshot().running);
}

TEST_F(SessionTest, AnUnknownPolicyAndADeadlineOutOfRangeAreRefused) {
  options.source.realtime = true;
  for (const Governing& wrong :
       {Governing{"fast", 0}, Governing{"alert", -1}, Governing{"alert", 600'001}}) {
    options.governing = wrong;
    const auto session = Session::open(options, models(), kept, clock, core::Rng(1));
    ASSERT_FALSE(session.ok());
    EXPECT_EQ(core::ErrorCode::kUsage, session.error().code);
  }
}

TEST_F(SessionTest, AStillIsSearchedForSmallerTextAndThatIsTold) {
  ASSERT_TRUE(open()->run().ok());
  EXPECT_TRUE(kept.of(EventKind::kKnobs).empty());
  const std::string still = clip() + ".png";
  ASSERT_EQ(0, std::system(
                   ("ffmpeg -nostdin -v error -y -i " + clip() + " -frames:v 1 " + still).c_str()));
  options.source.url = still;
  options.senses.hear = false;
  kept.events.clear();
  ASSERT_TRUE(open()->run().ok());
  std::filesystem::remove(still);
  const auto told = kept.of(EventKind::kKnobs);
  ASSERT_EQ(1U, told.size());
  EXPECT_EQ(2U, told.front().knobs);
  ASSERT_FALSE(kept.of(EventKind::kCaption).empty());
  EXPECT_EQ(2U, kept.of(EventKind::kCaption).front().knobs);
}

TEST_F(SessionTest, ALengthLimitEndsTheRun) {
  options.media_max = core::MediaDuration::from_ms(1'000);
  ASSERT_TRUE(open()->run().ok());
  EXPECT_LE(kept.number("frames_seen"), 12);
}

TEST_F(SessionTest, APromptWithoutAModelIsRefused) {
  SessionModels none = models();
  none.language = nullptr;
  const auto session = Session::open(options, none, kept, clock, core::Rng(1));
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(core::ErrorCode::kUsage, session.error().code);
}

TEST_F(SessionTest, AQuestionOverTwoMediaHasOneAnswer) {
  QuestionOptions question;
  question.turns = {
      {engine::ChatTurn::Role::kUser,
       {Medium{.source = options.source}, Medium{.source = options.source}, "What changed?"}}};
  ASSERT_TRUE(answer_question(question, models(), {kept, clock, core::Rng(1)}).ok());
  ASSERT_EQ(1U, kept.of(EventKind::kAnswer).size());
  EXPECT_EQ("a colour", kept.of(EventKind::kAnswer).front().text);
  EXPECT_EQ(6, encoder.calls());  // three different pictures of each
}

}  // namespace
}  // namespace saccade::session
