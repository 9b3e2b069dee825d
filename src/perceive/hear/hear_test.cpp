#include "perceive/hear/hear.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/rng.h"
#include "perceive/hear/fake_speech_model.h"

namespace saccade::perceive {
namespace {

constexpr std::size_t kBlock = 320;
constexpr std::int64_t kBlockUs = 20'000;

class ListenerTest : public testing::Test {
 protected:
  ingest::Frame block(float level) const {
    ingest::Frame frame;
    frame.time = core::MediaTime::from_us(now_us_, epoch_);
    frame.payload = ingest::Sound{std::vector<float>(kBlock, level), false};
    return frame;
  }
  void push(const ingest::Frame& frame) {
    auto out = listener_.push(frame, knobs_);
    now_us_ += kBlockUs;
    held_max_ = std::max(held_max_, listener_.held_samples());
    if (out.ok())
      take(*out);
    else
      errors_.push_back(out.error().code);
  }
  void flush() {
    auto out = listener_.flush();
    ASSERT_TRUE(out.ok());
    take(*out);
  }
  void take(const std::vector<Utterance>& out) {
    for (const Utterance& u : out) (u.final ? finals_ : partials_).push_back(u);
    for (std::size_t i = 0; i < out.size(); ++i) heard_at_us_.push_back(now_us_);
  }
  void silence(int ms) {
    for (int i = 0; i < ms / 20; ++i) push(block(0));
  }
  // A word of 300 ms and the gap of 100 ms after it.
  void say(int word) {
    for (int i = 0; i < 15; ++i) push(block(fake_level(word)));
    silence(100);
  }

  FakeSpeechModel speech_;
  FakeVoiceDetector voice_;
  Listener listener_{speech_, voice_};
  core::Knobs knobs_;
  std::int64_t now_us_ = 5'000'000;
  std::uint32_t epoch_ = 0;
  std::vector<Utterance> partials_, finals_;
  std::vector<std::int64_t> heard_at_us_;
  std::vector<core::ErrorCode> errors_;
  std::size_t held_max_ = 0;
};

TEST_F(ListenerTest, PartialsAndTheirFinalShareIdAndTimes) {
  silence(1000);
  for (const int word : {3, 1, 4, 1, 5, 9}) say(word);
  silence(1000);
  ASSERT_GE(partials_.size(), 2U);
  ASSERT_EQ(finals_.size(), 1U);
  EXPECT_EQ(finals_[0].text(), "w3 w1 w4 w1 w5 w9");
  EXPECT_EQ(finals_[0].start, core::MediaTime::from_us(6'000'000));
  EXPECT_EQ(finals_[0].end, core::MediaTime::from_us(8'300'000));
  for (const Utterance& partial : partials_) {
    EXPECT_EQ(partial.id, finals_[0].id);
    EXPECT_EQ(partial.start, finals_[0].start);
  }
  ASSERT_EQ(finals_[0].words.size(), 6U);
  EXPECT_EQ(finals_[0].words[2].start, core::MediaTime::from_us(6'800'000));
}

TEST_F(ListenerTest, SilenceAndClicksCostAndGiveNothing) {
  for (int i = 0; i < 20; ++i) {
    silence(2000);
    push(block(0.4F));  // 20 ms
  }
  flush();
  EXPECT_TRUE(finals_.empty());
  EXPECT_TRUE(partials_.empty());
  EXPECT_EQ(speech_.calls, 0U);
}

TEST_F(ListenerTest, PartialsComeAtTheIntervalOfTheKnobs) {
  knobs_.partial_interval = core::MediaDuration::from_ms(2000);
  silence(200);
  for (int i = 0; i < 20; ++i) say(i);
  ASSERT_GE(heard_at_us_.size(), 3U);
  for (std::size_t i = 1; i < heard_at_us_.size(); ++i)
    EXPECT_GE(heard_at_us_[i] - heard_at_us_[i - 1], 1'960'000);
  knobs_.partial_interval = core::MediaDuration::from_ms(0);
  const std::size_t before = partials_.size();
  for (int i = 0; i < 10; ++i) say(i);
  EXPECT_EQ(partials_.size(), before) << "0 turns partials off";
}

TEST_F(ListenerTest, FinalsOnlyCallTheModelOncePerUtterance) {
  Listener quiet(speech_, voice_, {.partials = false});
  std::vector<Utterance> out;
  const auto feed = [&](float level, int blocks) {
    for (int i = 0; i < blocks; ++i, now_us_ += kBlockUs) {
      auto heard = quiet.push(block(level), knobs_);
      ASSERT_TRUE(heard.ok());
      out.insert(out.end(), heard->begin(), heard->end());
    }
  };
  for (int utterance = 0; utterance < 3; ++utterance) {
    for (int word = 0; word < 10; ++word) {
      feed(fake_level(word), 15);
      feed(0, 5);
    }
    feed(0, 50);
  }
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(speech_.calls, 3U);
  for (const Utterance& u : out) EXPECT_TRUE(u.final);
  EXPECT_EQ(out[2].words.size(), 10U);
}

TEST_F(ListenerTest, TenMinutesKeepMemoryFlatAndTimeInOrder) {
  core::Rng rng(3);
  std::string said;
  while (now_us_ < 605'000'000) {
    const auto words = rng.between(1, 30);
    for (int i = 0; i < words; ++i) {
      const int word = static_cast<int>(rng.between(0, kFakeWords - 1));
      say(word);
      said += fake_word(word);
    }
    silence(static_cast<int>(rng.between(40, 150)) * 20);
  }
  flush();
  std::string heard;
  core::MediaTime before = core::MediaTime::unset();
  std::uint64_t id = 0;
  for (const Utterance& u : finals_) {
    EXPECT_GT(u.id, id);
    id = u.id;
    for (const SpokenWord& word : u.words) {
      EXPECT_GE(word.start, before);
      EXPECT_GE(word.end, word.start);
      before = word.end;
      heard += word.text;
    }
  }
  EXPECT_EQ(heard, said);
  EXPECT_LE(held_max_, 29U * 16'000);
  EXPECT_LE(speech_.longest_clip, 28U * 16'000);
}

TEST_F(ListenerTest, SpeechWithoutPauseIsCutButNotLost) {
  std::string said;
  for (int i = 0; i < 200; ++i) {
    say(i % kFakeWords);
    said += fake_word(i % kFakeWords);
  }
  silence(1000);
  std::string heard;
  for (const Utterance& u : finals_)
    for (const SpokenWord& word : u.words) heard += word.text;
  EXPECT_GE(finals_.size(), 3U);
  EXPECT_EQ(heard, said);
  EXPECT_LE(speech_.longest_clip, 28U * 16'000);
  EXPECT_LE(held_max_, 29U * 16'000);
}

TEST_F(ListenerTest, APartialPassOfLongSpeechHearsOnlyItsEnd) {
  for (int i = 0; i < 45; ++i) say(i % kFakeWords);  // 18 s
  EXPECT_LE(speech_.longest_clip, 8U * 16'000);
  EXPECT_NE(speech_.contexts.back(), "") << "what came before steers the spelling";
  silence(1000);
  ASSERT_EQ(finals_.size(), 1U);
  EXPECT_EQ(finals_[0].words.size(), 45U);
}

TEST_F(ListenerTest, FinalWordsNeverContradictTheCommittedOnes) {
  speech_.fickle = true;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 25; ++i) say(i % kFakeWords);
    silence(1000);
  }
  ASSERT_EQ(finals_.size(), 10U);
  std::map<std::uint64_t, std::vector<Utterance>> by_id;
  for (const Utterance& u : partials_) by_id[u.id].push_back(u);
  std::size_t committed = 0;
  for (const Utterance& final : finals_) {
    const auto& partials = by_id[final.id];
    for (std::size_t i = 1; i < partials.size(); ++i)
      for (std::size_t w = 0; w < std::min(partials[i - 1].words.size(), partials[i].words.size());
           ++w) {
        if (partials[i - 1].words[w].text != partials[i].words[w].text) break;
        ASSERT_LT(w, final.words.size());
        EXPECT_EQ(final.words[w].text, partials[i].words[w].text);
        ++committed;
      }
  }
  EXPECT_GT(committed, 50U);
}

TEST_F(ListenerTest, ANewEpochEndsTheUtterance) {
  silence(500);
  for (int i = 0; i < 4; ++i) say(i);
  ++epoch_;
  for (int i = 4; i < 8; ++i) say(i);
  silence(1000);
  ASSERT_EQ(finals_.size(), 2U);
  EXPECT_EQ(finals_[0].text(), "w0 w1 w2 w3");
  EXPECT_EQ(finals_[0].end.epoch(), 0U);
  EXPECT_EQ(finals_[1].text(), "w4 w5 w6 w7");
  EXPECT_EQ(finals_[1].start, core::MediaTime::from_us(7'100'000, 1));
}

TEST_F(ListenerTest, AGapEndsTheUtteranceAndJitterDoesNot) {
  for (int i = 0; i < 4; ++i) {
    say(i);
    now_us_ += i % 2 == 0 ? 15'000 : -15'000;
  }
  now_us_ += 400'000;
  for (int i = 4; i < 8; ++i) say(i);
  silence(1000);
  ASSERT_EQ(finals_.size(), 2U);
  EXPECT_EQ(finals_[0].text(), "w0 w1 w2 w3");
  EXPECT_EQ(finals_[1].text(), "w4 w5 w6 w7");
  EXPECT_EQ(finals_[1].start, core::MediaTime::from_us(7'000'000));
}

TEST_F(ListenerTest, ClockDriftOfTheSourceDoesNotAddUp) {
  // Blocks of 20 ms come 20.02 ms apart: 1000 ppm, 0.6 s over ten minutes.
  std::int64_t began = 0;
  for (int i = 0; i < 29'000; ++i) {
    push(block(0));
    now_us_ += 20;
  }
  began = now_us_;
  for (int i = 0; i < 3; ++i) say(i);
  silence(1000);
  ASSERT_EQ(finals_.size(), 1U);
  EXPECT_NEAR(static_cast<double>(finals_[0].start.us() - began), 0, 1000);
}

TEST_F(ListenerTest, AFailingModelCostsOneSegmentOnly) {
  for (int i = 0; i < 2; ++i) say(i);
  speech_.fail_next = true;
  silence(1000);
  ASSERT_EQ(errors_.size(), 1U);
  EXPECT_EQ(errors_[0], core::ErrorCode::kInternal);
  for (int i = 2; i < 4; ++i) say(i);
  voice_.fail_next = true;
  silence(1000);
  EXPECT_EQ(errors_.size(), 2U);
  for (int i = 4; i < 8; ++i) say(i);
  silence(1000);
  ASSERT_FALSE(finals_.empty());
  EXPECT_EQ(finals_.back().text(), "w4 w5 w6 w7");
}

TEST_F(ListenerTest, APartialThatLeavesNothingIsWithdrawn) {
  for (int i = 0; i < 4; ++i) say(i);
  ASSERT_EQ(partials_.size(), 1U) << "one hypothesis: nothing is committed yet";
  speech_.deaf = true;
  silence(1000);
  ASSERT_EQ(finals_.size(), 1U);
  EXPECT_EQ(finals_[0].id, partials_[0].id);
  EXPECT_EQ(finals_[0].start, partials_[0].start);
  EXPECT_TRUE(finals_[0].words.empty());
}

TEST_F(ListenerTest, APartialOfAFailedSegmentIsWithdrawnToo) {
  for (int i = 0; i < 4; ++i) say(i);
  ASSERT_EQ(partials_.size(), 1U);
  speech_.fail_next = true;
  silence(1000);
  ASSERT_EQ(errors_.size(), 1U);
  ASSERT_EQ(finals_.size(), 1U);
  EXPECT_EQ(finals_[0].id, partials_[0].id);
  EXPECT_TRUE(finals_[0].words.empty());
  for (int i = 4; i < 6; ++i) say(i);
  flush();
  EXPECT_EQ(finals_.back().text(), "w4 w5");
  EXPECT_GT(finals_.back().id, partials_[0].id);
}

TEST_F(ListenerTest, WhatWasFinalBeforeAnErrorIsNotLost) {
  for (int i = 0; i < 2; ++i) say(i);
  now_us_ += 5'000'000;  // a gap: the next block ends the utterance ...
  voice_.fail_next = true;
  for (int i = 2; i < 4; ++i) say(i);  // ... and a chunk of it fails
  EXPECT_EQ(errors_.size(), 1U);
  flush();
  ASSERT_EQ(finals_.size(), 2U);
  EXPECT_EQ(finals_[0].text(), "w0 w1");
}

TEST_F(ListenerTest, BadInputIsRefusedOrRepaired) {
  ingest::Frame picture;
  picture.time = core::MediaTime::from_us(0);
  picture.payload = ingest::Picture{};
  const auto refused = listener_.push(picture, knobs_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, core::ErrorCode::kUsage);
  ingest::Frame timeless = block(0.1F);
  timeless.time = core::MediaTime::unset();
  EXPECT_FALSE(listener_.push(timeless, knobs_).ok());
  push(block(std::numeric_limits<float>::quiet_NaN()));
  push(block(std::numeric_limits<float>::infinity()));
  for (int i = 0; i < 3; ++i) say(i);
  flush();
  ASSERT_EQ(finals_.size(), 1U);
  EXPECT_EQ(finals_[0].text(), "w0 w1 w2");
}

TEST_F(ListenerTest, FlushEndsTheUtteranceAndTheListenerGoesOn) {
  for (int i = 0; i < 2; ++i) say(i);
  flush();
  for (int i = 2; i < 4; ++i) say(i);
  flush();
  flush();
  ASSERT_EQ(finals_.size(), 2U);
  EXPECT_EQ(finals_[1].text(), "w2 w3");
  EXPECT_GT(finals_[1].id, finals_[0].id);
}

}  // namespace
}  // namespace saccade::perceive
