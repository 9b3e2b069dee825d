#include "emit/emitter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace saccade::emit {
namespace {

struct Collected final : EventSink {
  void on_event(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

class EmitterTest : public ::testing::Test {
 protected:
  EmitterTest() { clock.advance_us(1'000'000); }

  Emitter& emitter(EmitterOptions options = {}) {
    if (!made_emitter) {
      auto made = Emitter::create(std::move(options), sink, clock);
      EXPECT_TRUE(made.ok());
      made_emitter = std::move(made).value();
    }
    return *made_emitter;
  }
  attend::Focus focus(double seconds, std::string prompt = "caption") {
    attend::Focus f;
    f.prompt.id = std::move(prompt);
    f.time = core::MediaTime::from_us(static_cast<std::int64_t>(seconds * 1e6));
    f.captured = clock.now();
    return f;
  }
  void answer(double seconds, const std::string& text, std::string prompt = "caption") {
    ASSERT_TRUE(emitter().begin_answer(++next_answer, focus(seconds, std::move(prompt))).ok());
    EXPECT_TRUE(emitter().on_token(token(text)));
    EXPECT_FALSE(emitter().on_token(last()));
  }
  decode::Token token(std::string bytes, float logprob = 0) {
    decode::Token t;
    t.answer = next_answer;
    t.bytes = std::move(bytes);
    t.logprob = logprob;
    return t;
  }
  decode::Token last(decode::FinishReason reason = decode::FinishReason::kStop) {
    decode::Token t = token("");
    t.finish = reason;
    return t;
  }
  perceive::Percept percept(double seconds, bool unchanged) {
    perceive::Percept p;
    p.moment.time = core::MediaTime::from_us(static_cast<std::int64_t>(seconds * 1e6));
    p.unchanged = unchanged;
    return p;
  }
  // One word, or none, of the same utterance.
  void say(const std::string& word, bool final = false) {
    perceive::Percept p = percept(2, false);
    perceive::Utterance& utterance = p.speech.emplace_back();
    utterance.start = core::MediaTime::from_us(1'500'000);
    utterance.end = p.moment.time;
    utterance.final = final;
    if (!word.empty()) utterance.words = {{word, utterance.start, utterance.end, 0.8F}};
    emitter().on_percept(p);
  }

  core::ManualClock clock;
  Collected sink;
  std::uint64_t next_answer = 0;
  std::unique_ptr<Emitter> made_emitter;
};

TEST_F(EmitterTest, AnAnswerIsOneEventWithAgeAndConfidence) {
  attend::Focus f = focus(12.48);
  f.ledger[telemetry::Stage::kSee] = 31;
  ASSERT_TRUE(emitter({.stream = "door"}).begin_answer(++next_answer, f).ok());
  clock.advance_us(84'000);
  EXPECT_TRUE(emitter().on_token(token(" A red\xF0\x9F", std::log(0.5F))));
  EXPECT_TRUE(emitter().on_token(token("\x94\xB4 lamp ", std::log(0.5F))));
  EXPECT_FALSE(emitter().on_token(last()));
  ASSERT_EQ(sink.events.size(), 1U);
  const Event& event = sink.events[0];
  EXPECT_EQ(event.kind, EventKind::kCaption);
  EXPECT_EQ(event.stream, "door");
  EXPECT_EQ(event.seq, 1U);
  EXPECT_EQ(event.text, "A red🔴 lamp");
  EXPECT_EQ(event.t0, f.time);
  EXPECT_EQ(event.t1, f.time);
  EXPECT_TRUE(event.final);
  EXPECT_NEAR(event.confidence.value(), 0.5, 1e-6);
  EXPECT_DOUBLE_EQ(event.frame_age_ms.value(), 84);
  EXPECT_EQ(event.stages[telemetry::Stage::kSee], 31);
}

TEST_F(EmitterTest, UnchangedMomentsOnlyExtendTheSpan) {
  answer(1, "A lamp.");
  emitter().on_percept(percept(2, true));
  emitter().on_percept(percept(3, true));
  EXPECT_EQ(sink.events.size(), 1U);
  answer(4, "A door.");
  ASSERT_EQ(sink.events.size(), 3U);
  EXPECT_EQ(sink.events[1].id, sink.events[0].id);
  EXPECT_EQ(sink.events[1].text, "A lamp.");
  EXPECT_DOUBLE_EQ(sink.events[1].t0.seconds(), 1);
  EXPECT_DOUBLE_EQ(sink.events[1].t1.seconds(), 3);
  EXPECT_EQ(sink.events[2].text, "A door.");
  EXPECT_NE(sink.events[2].id, sink.events[0].id);
}

TEST_F(EmitterTest, EqualAnswersInARowAreOneSpan) {
  answer(1, "A lamp.");
  answer(2, "A lamp.");
  answer(3, "A lamp.");
  EXPECT_EQ(sink.events.size(), 1U);
  emitter().finish();
  ASSERT_EQ(sink.events.size(), 2U);
  EXPECT_DOUBLE_EQ(sink.events[1].t1.seconds(), 3);
}

TEST_F(EmitterTest, EqualAnswersStaySeparateWhenAskedFor) {
  emitter({.merge_same = false});
  answer(1, "A lamp.");
  answer(2, "A lamp.");
  EXPECT_EQ(sink.events.size(), 2U);
}

TEST_F(EmitterTest, AShortSpanIsNotToldTwice) {
  answer(1, "A lamp.");
  emitter().finish();
  EXPECT_EQ(sink.events.size(), 1U);
}

TEST_F(EmitterTest, PromptsHaveTheirOwnSpans) {
  answer(1, "Yes.", "door");
  answer(1, "A lamp.");
  answer(2, "Yes.", "door");
  EXPECT_EQ(sink.events.size(), 2U);
  EXPECT_EQ(sink.events[0].kind, EventKind::kAnswer);
  EXPECT_EQ(sink.events[0].prompt, "door");
}

TEST_F(EmitterTest, StopStringsEndAnAnswerEarly) {
  emitter({.stops = {"###"}});
  ASSERT_TRUE(emitter().begin_answer(++next_answer, focus(1)).ok());
  EXPECT_TRUE(emitter().on_token(token("done #")));
  EXPECT_FALSE(emitter().on_token(token("## not this")));
  EXPECT_FALSE(emitter().on_token(token("late token")));
  ASSERT_EQ(sink.events.size(), 1U);
  EXPECT_EQ(sink.events[0].text, "done");
}

TEST_F(EmitterTest, PartialsGrowUnderOneId) {
  emitter({.partials = true});
  answer(1, "One two");
  ASSERT_EQ(sink.events.size(), 2U);
  EXPECT_FALSE(sink.events[0].final);
  EXPECT_TRUE(sink.events[1].final);
  EXPECT_EQ(sink.events[0].id, sink.events[1].id);
}

TEST_F(EmitterTest, AFailedAnswerIsAStatusAndACancelledOneIsNothing) {
  ASSERT_TRUE(emitter().begin_answer(++next_answer, focus(1)).ok());
  decode::Token failed = last(decode::FinishReason::kError);
  failed.error = "not a number";
  emitter().on_token(failed);
  ASSERT_EQ(sink.events.size(), 1U);
  EXPECT_EQ(sink.events[0].kind, EventKind::kStatus);
  EXPECT_EQ(sink.events[0].reason, "answer failed: not a number");
  ASSERT_TRUE(emitter().begin_answer(++next_answer, focus(2)).ok());
  emitter().on_token(token("half"));
  emitter().on_token(last(decode::FinishReason::kCancelled));
  EXPECT_EQ(sink.events.size(), 1U);
}

TEST_F(EmitterTest, RunningAnswersAreBounded) {
  for (std::uint64_t i = 0; i < kAnswersOpenMax; ++i) {
    ASSERT_TRUE(emitter().begin_answer(i, focus(1)).ok());
  }
  EXPECT_EQ(emitter().begin_answer(1000, focus(1)).error().code, core::ErrorCode::kExhausted);
}

TEST_F(EmitterTest, OneOffQuestionsDoNotPileUp) {
  for (int i = 0; i < 500; ++i) answer(i, "x", "ask-" + std::to_string(i));
  EXPECT_EQ(sink.events.size(), 500U);
}

TEST_F(EmitterTest, AnAlertIsToldWhenItTurns) {
  attend::Focus f = focus(1, "fire");
  f.prompt.kind = attend::StandingPrompt::Kind::kAlert;
  f.prompt.text = "Is there a fire?";
  emitter().on_verdict(f, {.yes = false, .probability = 0.1F});
  f.time = core::MediaTime::from_us(2'000'000);
  emitter().on_verdict(f, {.yes = false, .probability = 0.2F});
  EXPECT_EQ(sink.events.size(), 1U);
  EXPECT_NEAR(sink.events[0].confidence.value(), 0.9, 1e-6);
  f.time = core::MediaTime::from_us(3'000'000);
  emitter().on_verdict(f, {.yes = true, .probability = 0.8F});
  ASSERT_EQ(sink.events.size(), 3U);
  EXPECT_EQ(sink.events[1].yes, false);
  EXPECT_DOUBLE_EQ(sink.events[1].t1.seconds(), 2);
  EXPECT_EQ(sink.events[2].yes, true);
  EXPECT_EQ(sink.events[2].text, "Is there a fire?");
}

TEST_F(EmitterTest, TextAndSpeechCarryTheirPlaceAndWords) {
  perceive::Percept p = percept(2, false);
  p.change.scene_cut = true;
  perceive::TextTrack track;
  track.id = 4;
  track.line.text = "PUMP\x1B 3";
  track.line.confidence = 0.97F;
  track.line.box = {{{1, 2}, {3, 2}, {3, 4}, {1, 4}}};
  track.first = core::MediaTime::from_us(1'000'000);
  track.last = core::MediaTime::from_us(2'000'000);
  p.text_events.push_back(track);
  perceive::Utterance utterance;
  utterance.id = 1;
  utterance.final = true;
  utterance.words = {{" Valve", track.first, track.last, 0.8F}, {" open.", track.last, {}, 1.0F}};
  p.speech.push_back(utterance);
  emitter().on_percept(p);
  ASSERT_EQ(sink.events.size(), 3U);
  EXPECT_EQ(sink.events[0].kind, EventKind::kScene);
  EXPECT_EQ(sink.events[1].text, "PUMP 3");
  EXPECT_FALSE(sink.events[1].final);
  EXPECT_EQ(sink.events[1].box.size(), 4U);
  EXPECT_EQ(sink.events[2].text, "Valve open.");
  EXPECT_EQ(sink.events[2].words.at(0).text, "Valve");
  EXPECT_NEAR(sink.events[2].confidence.value(), 0.9, 1e-6);
}

TEST_F(EmitterTest, APartialWithoutAnyFinalWordsIsWithdrawn) {
  say("Valve");
  say("", true);
  say("", true);  // nothing stands any more
  emitter().finish();
  ASSERT_EQ(sink.events.size(), 2U);
  EXPECT_FALSE(sink.events[0].final);
  EXPECT_TRUE(sink.events[1].final);
  EXPECT_EQ(sink.events[1].kind, EventKind::kSpeech);
  EXPECT_EQ(sink.events[1].id, sink.events[0].id);
  EXPECT_EQ(sink.events[1].t0, sink.events[0].t0);
  EXPECT_EQ(sink.events[1].text, "");
  EXPECT_TRUE(sink.events[1].words.empty());
}

TEST_F(EmitterTest, TheEndOfTheStreamWithdrawsTentativeSpeech) {
  say("Valve");
  emitter().finish();
  ASSERT_EQ(sink.events.size(), 2U);
  EXPECT_EQ(sink.events[1].id, sink.events[0].id);
  EXPECT_TRUE(sink.events[1].final && sink.events[1].text.empty());
}

TEST_F(EmitterTest, SpeechThatNobodySawIsNotWithdrawn) {
  say("\x1B");  // nothing is left of it
  say("", true);
  EXPECT_TRUE(sink.events.empty());
}

TEST_F(EmitterTest, DropsAreSummedUpPerSecondAndNeverLost) {
  for (int i = 0; i < 100; ++i) {
    emitter().on_drop(DropReason::kBusy, core::MediaTime::from_us(i * 33'000));
    clock.advance_us(33'000);
  }
  emitter().on_loss({ingest::LossKind::kCorrupt, core::MediaTime::unset(), 2});
  emitter().finish();
  std::uint64_t busy = 0, corrupt = 0;
  for (const Event& event : sink.events) {
    ASSERT_EQ(event.kind, EventKind::kDrop);
    (event.reason == "busy" ? busy : corrupt) += event.count;
  }
  EXPECT_EQ(busy, 100U);
  EXPECT_EQ(corrupt, 2U);
  EXPECT_LE(sink.events.size(), 6U);
}

TEST_F(EmitterTest, FilterWordsAndHostileBytesNeverGetOut) {
  emitter({.filter_words = {"secret"}});
  answer(1, "The \x1B[2Jsec\xFFret Secret.");
  EXPECT_EQ(sink.events.at(0).text, "The [2Jsec\uFFFDret ******.");
}

TEST_F(EmitterTest, SequenceNumbersRiseByOne) {
  emitter().on_state({ingest::SourceState::kUp, ""});
  answer(1, "a");
  answer(2, "b");
  emitter().finish();
  emitter().on_stats({.wall_seconds = 1, .peak_memory_bytes = 0});
  for (std::size_t i = 0; i < sink.events.size(); ++i) EXPECT_EQ(sink.events[i].seq, i + 1);
  EXPECT_EQ(sink.events.back().kind, EventKind::kStats);
}

}  // namespace
}  // namespace saccade::emit
