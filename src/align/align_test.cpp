// What a user of the room relies on, one rule of align.h after the other.
#include "align/align.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "align/frames_for_test.h"

namespace saccade::align {
namespace {

class AlignTest : public testing::Test {
 protected:
  // Blocks number `first` to `last - 1`, block n at n * 20 ms.
  void hear(Aligner& aligner, int first, int last) {
    for (int n = first; n < last; ++n) append(got, aligner.push(sound(n * 20 * kMs, n), knobs()));
  }
  void look(Aligner& aligner, std::int64_t time_us, int number) {
    append(got, aligner.push(picture(time_us, number), knobs()));
  }

  core::ManualClock clock;
  std::vector<Moment> got;
};

TEST_F(AlignTest, PictureTakesTheSoundBeforeItAndTheNearestBlock) {
  Aligner aligner(AlignOptions{}, clock);
  hear(aligner, 0, 10);
  look(aligner, 195 * kMs, 1);  // block 10 starts at 200 ms: nearer than block 9 at 180 ms
  EXPECT_TRUE(got.empty());     // not certain before a block after the picture came
  hear(aligner, 10, 12);
  ASSERT_EQ(describe(got),
            std::vector<std::string>{"P1@195000/0 [ 0 1 2 3 4 5 6 7 8 9 10 ] skew -5000 joined"});
  look(aligner, 212 * kMs, 2);
  hear(aligner, 12, 13);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(describe(got[1]), "P2@212000/0 [ 11 ] skew -8000 joined");
}

TEST_F(AlignTest, OfTwoEquallyNearBlocksTheEarlierCounts) {
  Aligner aligner(AlignOptions{}, clock);
  hear(aligner, 0, 2);
  look(aligner, 10 * kMs, 1);
  ASSERT_EQ(describe(got), std::vector<std::string>{"P1@10000/0 [ 0 ] skew 10000 joined"});
}

TEST_F(AlignTest, SoundOutsideTheWindowIsNotJoined) {
  Aligner aligner(AlignOptions{}, clock);
  append(got, aligner.push(sound(0, 0), knobs()));
  look(aligner, 100 * kMs, 1);
  append(got, aligner.push(sound(151 * kMs, 1), knobs()));
  ASSERT_EQ(describe(got), std::vector<std::string>{"P1@100000/0 [ 0 ] skew 0"});
}

TEST_F(AlignTest, WithoutPicturesEverySoundMomentGivesOne) {
  AlignOptions options;
  options.has_video = false;
  Aligner aligner(options, clock);
  hear(aligner, 0, 25);
  append(got, aligner.flush());
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got[0].sound.size(), 10U);
  EXPECT_EQ(got[1].time.us(), 200 * kMs);
  EXPECT_EQ(got[1].span.us(), 200 * kMs);
  EXPECT_EQ(got[2].sound.size(), 5U);
  EXPECT_FALSE(got[0].picture);
  EXPECT_FALSE(got[0].joined);
}

TEST_F(AlignTest, WithoutSoundPicturesPassAtOnce) {
  AlignOptions options;
  options.has_audio = false;
  Aligner aligner(options, clock);
  look(aligner, 0, 1);
  look(aligner, 200 * kMs, 2);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[1].skew.us(), 0);
  EXPECT_EQ(aligner.pending(), 0U);
}

TEST_F(AlignTest, SilentSoundSourceStallsNoPictureLongerThanLateness) {
  Aligner aligner(AlignOptions{}, clock);
  for (int n = 0; n <= 10; ++n) look(aligner, n * 100 * kMs, n + 1);
  ASSERT_EQ(got.size(), 8U);  // 0 .. 700 ms: 750 + 200 ms are behind the newest picture
  EXPECT_EQ(number_of(*got.back().picture), 8);
}

TEST_F(AlignTest, SilentPictureSourceStallsNoSound) {
  Aligner aligner(AlignOptions{}, clock);
  hear(aligner, 0, 100);
  ASSERT_EQ(got.size(), 4U);  // chunks of 400 ms, certain 200 ms later
  EXPECT_EQ(got[3].time.us(), 1'200 * kMs);
  EXPECT_LE(aligner.pending(), 30U);
}

TEST_F(AlignTest, SparsePicturesGetTheirOwnSound) {
  Aligner aligner(AlignOptions{}, clock);
  for (int n = 0; n < 150; ++n) {
    hear(aligner, n, n + 1);
    if (n == 100) look(aligner, 2'000 * kMs, 1);
  }
  int pictures = 0;
  for (const Moment& moment : got) {
    if (!moment.picture) continue;
    ++pictures;
    EXPECT_TRUE(moment.joined);
    EXPECT_EQ(number_of(moment.sound.back()), 100);
  }
  EXPECT_EQ(pictures, 1);
}

TEST_F(AlignTest, TickGivesOutWhatWaitedForLateness) {
  Aligner aligner(AlignOptions{}, clock);
  look(aligner, 0, 1);
  clock.advance_us(199 * kMs);
  EXPECT_TRUE(aligner.tick(clock.now()).empty());
  clock.advance_us(1 * kMs);
  append(got, aligner.tick(clock.now()));
  ASSERT_EQ(got.size(), 1U);
  EXPECT_DOUBLE_EQ(got[0].ledger[telemetry::Stage::kAlign], 200.0);
}

TEST_F(AlignTest, TickGivesOutSoundOfADeadPictureSource) {
  Aligner aligner(AlignOptions{}, clock);
  hear(aligner, 0, 5);
  clock.advance_us(599 * kMs);
  EXPECT_TRUE(aligner.tick(clock.now()).empty());
  clock.advance_us(1 * kMs);
  append(got, aligner.tick(clock.now()));
  ASSERT_EQ(describe(got), std::vector<std::string>{"@0/0 [ 0 1 2 3 4 ]"});
}

TEST_F(AlignTest, PromiseOfTheOtherKindEndsTheWait) {
  Aligner aligner(AlignOptions{}, clock);
  look(aligner, 100 * kMs, 1);
  EXPECT_TRUE(aligner.advance(SourceKind::kAudio, core::MediaTime::from_us(149 * kMs)).empty());
  EXPECT_TRUE(aligner.advance(SourceKind::kAudio, core::MediaTime::from_us(150 * kMs, 3)).empty());
  EXPECT_TRUE(aligner.advance(SourceKind::kAudio, core::MediaTime::unset()).empty());
  EXPECT_EQ(aligner.advance(SourceKind::kAudio, core::MediaTime::from_us(150 * kMs)).size(), 1U);
}

TEST_F(AlignTest, EndedSourceIsNotWaitedFor) {
  Aligner aligner(AlignOptions{}, clock);
  hear(aligner, 0, 3);
  look(aligner, 500 * kMs, 1);
  EXPECT_TRUE(got.empty());
  append(got, aligner.source_ended(SourceKind::kAudio));
  ASSERT_EQ(got.size(), 2U);  // 0..60 ms can belong to no later picture; then the picture
  EXPECT_EQ(got[0].sound.size(), 3U);
  look(aligner, 700 * kMs, 2);
  EXPECT_EQ(got.size(), 3U);
}

TEST_F(AlignTest, LatePictureIsDroppedAndCounted) {
  AlignOptions options;
  options.has_audio = false;
  Aligner aligner(options, clock);
  EXPECT_FALSE(aligner.take_late());
  look(aligner, 300 * kMs, 1);
  look(aligner, 300 * kMs, 2);
  look(aligner, 100 * kMs, 3);
  append(got, aligner.push(picture(0, 4), knobs()));
  EXPECT_EQ(got.size(), 1U);
  const auto late = aligner.take_late();
  ASSERT_TRUE(late);
  EXPECT_EQ(late->kind, ingest::LossKind::kLate);
  EXPECT_EQ(late->count, 3U);
  EXPECT_EQ(late->time.us(), 0);
  EXPECT_FALSE(aligner.take_late());
}

TEST_F(AlignTest, PictureWithoutATimeIsCountedNotLost) {
  Aligner aligner(AlignOptions{}, clock);
  ingest::Frame frame = picture(0, 1);
  frame.time = core::MediaTime::unset();
  EXPECT_TRUE(aligner.push(frame, knobs()).empty());
  ASSERT_TRUE(aligner.take_late());
}

TEST_F(AlignTest, LateSoundGoesToTheNextMomentWithItsOwnTime) {
  Aligner aligner(AlignOptions{}, clock);
  hear(aligner, 1, 13);
  look(aligner, 200 * kMs, 1);
  append(got, aligner.push(sound(0, 0), knobs()));  // should have been in the first Moment
  look(aligner, 400 * kMs, 2);
  hear(aligner, 13, 22);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(describe(got[1]), "P2@400000/0 [ 0 11 12 13 14 15 16 17 18 19 20 ] skew 0 joined");
  EXPECT_EQ(got[1].sound.front().time.us(), 0);
}

TEST_F(AlignTest, NewEpochGivesOutTheOldOneAndSaysSo) {
  Aligner aligner(AlignOptions{}, clock);
  hear(aligner, 0, 3);
  look(aligner, 200 * kMs, 1);
  append(got, aligner.push(sound(210 * kMs, 3, 1), knobs()));
  ASSERT_EQ(describe(got), std::vector<std::string>{"P1@200000/0 [ 0 1 2 ] skew 0"});
  append(got, aligner.push(picture(150 * kMs, 9, 0), knobs()));  // old epoch: late
  append(got, aligner.push(sound(60 * kMs, 4, 0), knobs()));     // old epoch: kept
  append(got, aligner.push(picture(220 * kMs, 2, 1), knobs()));
  append(got, aligner.push(sound(230 * kMs, 5, 1), knobs()));
  append(got, aligner.push(picture(420 * kMs, 3, 1), knobs()));
  append(got, aligner.flush());
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(describe(got[1]), "P2@220000/1 [ 4 3 ] skew 10000 joined discontinuity");
  EXPECT_EQ(got[1].sound.front().time, core::MediaTime::from_us(60 * kMs, 0));
  EXPECT_FALSE(got[2].discontinuity);
  EXPECT_EQ(aligner.take_late()->count, 1U);
}

TEST_F(AlignTest, HeldPicturesStayBelowTheSlotsOfTheSource) {
  AlignOptions options;
  options.lateness = core::MediaDuration::from_ms(10'000);
  Aligner aligner(options, clock);
  for (int n = 0; n < 20; ++n) {
    look(aligner, n * 33 * kMs, n + 1);
    EXPECT_LE(aligner.pending(), Aligner::kPicturesHeld);
  }
  EXPECT_EQ(got.size(), 20 - Aligner::kPicturesHeld);
}

TEST_F(AlignTest, LargePicturesAreHeldOneAtATime) {
  Aligner aligner(AlignOptions{}, clock);
  for (int n = 0; n < 3; ++n) {
    ingest::Picture payload;
    payload.pixels.width = 4000;
    payload.pixels.height = 3000;
    ingest::Frame frame = picture(n * 33 * kMs, 0);
    frame.payload = payload;
    append(got, aligner.push(frame, knobs()));
  }
  EXPECT_EQ(got.size(), 2U);
}

TEST_F(AlignTest, JammedSoundStampsStayBounded) {
  Aligner aligner(AlignOptions{}, clock);
  std::size_t blocks = 0;
  for (int n = 0; n < 10'000; ++n) {
    for (const Moment& moment : aligner.push(sound(5, n), knobs())) blocks += moment.sound.size();
    ASSERT_LE(aligner.pending(), core::limits::kAlignPendingMax + 1);
  }
  for (const Moment& moment : aligner.flush()) blocks += moment.sound.size();
  EXPECT_EQ(blocks, 10'000U);
}

TEST_F(AlignTest, ExtremeStampsAreHarmless) {
  Aligner aligner(AlignOptions{}, clock);
  std::size_t blocks = 0;
  const auto count = [&](const std::vector<Moment>& moments) {
    for (const Moment& moment : moments) blocks += moment.sound.size();
  };
  const std::int64_t far = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t us : {far, -far, far / 4, -far / 4, std::int64_t{0}}) {
    count(aligner.push(sound(us, 1), knobs()));
    count(aligner.push(picture(us, 1), knobs()));
  }
  count(aligner.push(sound(0, 1, 0xFFFFFFFF), knobs()));
  count(aligner.flush());
  EXPECT_EQ(blocks, 6U);
}

TEST_F(AlignTest, MomentCarriesTheNewestKnobsAndCountsUp) {
  AlignOptions options;
  options.has_audio = false;
  Aligner aligner(options, clock);
  append(got, aligner.push(picture(0, 1), knobs(4)));
  append(got, aligner.push(picture(40 * kMs, 2), knobs(5)));
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].knobs->version, 4U);
  EXPECT_EQ(got[1].knobs->version, 5U);
  EXPECT_EQ(got[1].index, got[0].index + 1);
}

TEST_F(AlignTest, SenderTimesGiveCaptureLatencyAndWallTime) {
  AlignOptions options;
  options.has_audio = false;
  options.clocks = ClockRule::kDrift;
  Aligner aligner(options, clock);
  clock.advance_us(1'000 * kMs);
  const std::int64_t wall_us = clock.wall_now().us;
  ingest::Frame frame = picture(700 * kMs, 1);
  frame.captured = core::SteadyTime{980 * kMs};
  frame.wall = core::WallTime{wall_us - 100 * kMs};
  append(got, aligner.push(frame, knobs()));
  ASSERT_EQ(got.size(), 1U);
  EXPECT_DOUBLE_EQ(got[0].ledger[telemetry::Stage::kCapture], 80.0);
  const auto wall = aligner.wall();
  ASSERT_TRUE(wall);
  EXPECT_EQ(wall->wall_at(core::MediaTime::from_us(900 * kMs))->us, wall_us + 100 * kMs);
}

TEST_F(AlignTest, ACameraThatComesAfterTheMicrophoneJoinsItsAxis) {
  AlignOptions options;
  options.clocks = ClockRule::kArrival;
  Aligner aligner(options, clock);
  const auto at = [&](ingest::Frame frame, std::int64_t captured_us) {
    frame.captured = core::SteadyTime{captured_us};
    append(got, aligner.push(frame, knobs()));
  };
  for (int n = 0; n < 100; ++n) at(sound(n * 20 * kMs, n), n * 20 * kMs);
  at(picture(0, 1), 2'000 * kMs);
  for (int n = 100; n < 105; ++n) at(sound(n * 20 * kMs, n), n * 20 * kMs);
  ASSERT_TRUE(got.back().picture);
  EXPECT_TRUE(got.back().joined);
  EXPECT_NEAR(got.back().time.seconds(), 2.0, 0.002);

  // It goes away for three seconds and starts again at its own 0.2 s.
  for (int n = 105; n < 250; ++n) at(sound(n * 20 * kMs, n), n * 20 * kMs);
  at(picture(200 * kMs, 2, 1), 5'000 * kMs);
  for (int n = 250; n < 255; ++n) at(sound(n * 20 * kMs, n), n * 20 * kMs);
  ASSERT_TRUE(got.back().picture);
  EXPECT_TRUE(got.back().joined);
  EXPECT_NEAR(got.back().time.seconds(), 5.0, 0.01);
  EXPECT_EQ(got.back().time.epoch(), 1U);
}

TEST(AlignOptionsTest, RangeIsCheckedByName) {
  EXPECT_TRUE(check(AlignOptions{}).ok());
  AlignOptions options;
  options.lateness = core::MediaDuration::from_ms(10'001);
  ASSERT_FALSE(check(options).ok());
  EXPECT_EQ(check(options).error().code, core::ErrorCode::kUsage);
  EXPECT_NE(check(options).error().message.find("lateness"), std::string::npos);
  options = {};
  options.window = core::MediaDuration::from_us(-1);
  EXPECT_NE(check(options).error().message.find("window"), std::string::npos);
}

}  // namespace
}  // namespace saccade::align
