#include "ingest/stamp_time.h"

#include <gtest/gtest.h>

#include <vector>

namespace saccade::ingest {
namespace {

constexpr std::int64_t kFrameUs = 40'000;

StampOptions microseconds() { return {}; }

// Stamps `raw` microseconds one after the other.
std::vector<Stamp> stamp_all(StampTime& stamps, const std::vector<std::int64_t>& raw) {
  std::vector<Stamp> out;
  out.reserve(raw.size());
  for (const auto us : raw) out.push_back(stamps.stamp(us, kFrameUs));
  return out;
}

std::vector<std::int64_t> times(const std::vector<Stamp>& stamps) {
  std::vector<std::int64_t> out;
  out.reserve(stamps.size());
  for (const auto& stamp : stamps) out.push_back(stamp.time.us());
  return out;
}

using Times = std::vector<std::int64_t>;

class StampTimeTest : public testing::Test {
 protected:
  StampAxis axis{core::MediaTime::from_us(0)};
};

TEST_F(StampTimeTest, FirstStampBecomesTheStart) {
  StampTime stamps(axis, microseconds());
  EXPECT_EQ(times(stamp_all(stamps, {5'000'000, 5'040'000, 5'080'000})),
            (Times{0, 40'000, 80'000}));
}

TEST_F(StampTimeTest, StartMayBeLaterAndInAnotherEpoch) {
  StampAxis later(core::MediaTime::from_us(7'000'000, 3));
  StampTime stamps(later, microseconds());
  const auto stamp = stamps.stamp(123, kFrameUs);
  EXPECT_EQ(stamp.time.us(), 7'000'000);
  EXPECT_EQ(stamp.time.epoch(), 3U);
}

TEST_F(StampTimeTest, OffsetBetweenSoundAndPicturesSurvives) {
  axis.set_origin(-20'000);
  StampTime pictures(axis, microseconds()), sound(axis, microseconds());
  EXPECT_EQ(pictures.stamp(100'000, kFrameUs).time.us(), 120'000);
  EXPECT_EQ(sound.stamp(-20'000, 20'000).time.us(), 0);
}

TEST_F(StampTimeTest, NegativeStampsStartAtZero) {
  StampTime stamps(axis, microseconds());
  EXPECT_EQ(times(stamp_all(stamps, {-80'000, -40'000, 0})), (Times{0, 40'000, 80'000}));
}

TEST_F(StampTimeTest, BeforeTheStartIsToldNotStamped) {
  axis.set_origin(0);
  StampTime stamps(axis, microseconds());
  EXPECT_TRUE(stamps.stamp(-40'000, kFrameUs).before_start);
  const auto next = stamps.stamp(0, kFrameUs);
  EXPECT_FALSE(next.before_start);
  EXPECT_EQ(next.time.us(), 0);
}

TEST_F(StampTimeTest, MissingStampsFollowTheDuration) {
  StampTime stamps(axis, microseconds());
  EXPECT_EQ(stamps.stamp(std::nullopt, kFrameUs).time.us(), 0);
  const auto second = stamps.stamp(std::nullopt, kFrameUs);
  EXPECT_EQ(second.time.us(), 40'000);
  EXPECT_TRUE(second.restamped);
  EXPECT_EQ(stamps.stamp(9'000'000, kFrameUs).time.us(), 80'000);
  EXPECT_EQ(stamps.stamp(9'040'000, kFrameUs).time.us(), 120'000);
}

TEST_F(StampTimeTest, UnknownDurationIsLearned) {
  StampTime stamps(axis, microseconds());
  stamps.stamp(0, 0);
  stamps.stamp(100'000, 0);
  EXPECT_EQ(stamps.stamp(std::nullopt, 0).time.us(), 200'000);
}

TEST_F(StampTimeTest, DuplicateStampsStillRise) {
  StampTime stamps(axis, microseconds());
  EXPECT_EQ(times(stamp_all(stamps, {0, 40'000, 40'000, 80'000})),
            (Times{0, 40'000, 60'000, 80'000}));
}

TEST_F(StampTimeTest, LoneWildStampIsReplaced) {
  StampTime stamps(axis, microseconds());
  const auto out = stamp_all(stamps, {0, 40'000, 3'600'000'000, 120'000, -9'000'000'000, 200'000});
  EXPECT_EQ(times(out), (Times{0, 40'000, 80'000, 120'000, 160'000, 200'000}));
  EXPECT_TRUE(out[2].restamped);
  EXPECT_FALSE(out[3].restamped);
  for (const auto& stamp : out) EXPECT_EQ(stamp.time.epoch(), 0U);
}

TEST_F(StampTimeTest, StampBeyondAllRangesIsReplaced) {
  StampTime stamps(axis, {.wrap_bits = 0, .tick_num = 1, .tick_den = 1});
  stamps.stamp(0, 1'000'000);
  EXPECT_EQ(stamps.stamp(INT64_MAX, 1'000'000).time.us(), 1'000'000);
  EXPECT_EQ(stamps.stamp(INT64_MIN, 1'000'000).time.us(), 2'000'000);
  EXPECT_EQ(stamps.stamp(3, 1'000'000).time.us(), 3'000'000);
}

TEST_F(StampTimeTest, LastingJumpBackIsANewEpochThatGoesOn) {
  StampTime stamps(axis, microseconds());
  stamp_all(stamps, {50'000'000, 50'040'000});
  const auto out = stamp_all(stamps, {0, 40'000, 80'000, 120'000});
  EXPECT_EQ(times(out), (Times{80'000, 120'000, 160'000, 200'000}));
  EXPECT_EQ(out[1].time.epoch(), 0U);
  EXPECT_EQ(out[2].time.epoch(), 1U);
  EXPECT_EQ(out[3].time.epoch(), 1U);
  EXPECT_FALSE(out[3].restamped);
}

TEST_F(StampTimeTest, LastingJumpAheadIsANewEpochThatGoesOn) {
  StampTime stamps(axis, microseconds());
  stamp_all(stamps, {0, 40'000});
  const auto out = stamp_all(stamps, {90'000'000, 90'040'000, 90'080'000, 90'120'000});
  EXPECT_EQ(times(out), (Times{80'000, 120'000, 160'000, 200'000}));
  EXPECT_EQ(out[3].time.epoch(), 1U);
}

TEST_F(StampTimeTest, LongStillInAFileIsNoJump) {
  StampTime stamps(axis, {.jump_ahead_us = kJumpAheadRecordedUs});
  const auto out = stamp_all(stamps, {0, 40'000, 90'000'000});
  EXPECT_EQ(out[2].time.us(), 90'000'000);
  EXPECT_EQ(out[2].time.epoch(), 0U);
}

TEST_F(StampTimeTest, GarbageThatNeverAgreesNeverStopsTime) {
  StampTime stamps(axis, microseconds());
  std::int64_t last = -1;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t wild = (i * 7'919'000'003LL) % 1'000'000'000'000LL - 500'000'000'000LL;
    const auto stamp = stamps.stamp(wild, kFrameUs);
    ASSERT_GT(stamp.time.us(), last);
    last = stamp.time.us();
  }
}

TEST_F(StampTimeTest, SoundFollowsThePicturesThroughAJump) {
  axis.set_origin(0);
  StampTime pictures(axis, microseconds()), sound(axis, microseconds());
  for (int i = 0; i < 25; ++i) pictures.stamp(i * kFrameUs, kFrameUs);
  for (int i = 0; i < 50; ++i) sound.stamp(i * 20'000, 20'000);
  std::vector<Stamp> seen, heard;
  for (int i = 0; i < 10; ++i) seen.push_back(pictures.stamp(500'000'000 + i * kFrameUs, kFrameUs));
  for (int i = 0; i < 20; ++i) heard.push_back(sound.stamp(500'000'000 + i * 20'000, 20'000));
  EXPECT_EQ(seen.back().time.epoch(), 1U);
  EXPECT_EQ(heard.back().time.epoch(), 1U);
  // Picture 9 and sound 18 were stamped alike, so they stay together.
  EXPECT_EQ(seen[9].time.us(), heard[18].time.us());
  std::int64_t last = 980'000;
  for (const auto& stamp : heard) {
    EXPECT_GT(stamp.time.us(), last);
    last = stamp.time.us();
  }
}

TEST_F(StampTimeTest, SoundWithoutAJumpEntersTheEpochByPosition) {
  axis.set_origin(0);
  StampTime pictures(axis, microseconds()), sound(axis, microseconds());
  for (int i = 0; i < 25; ++i) pictures.stamp(i * kFrameUs, kFrameUs);
  sound.stamp(0, 20'000);
  for (int i = 0; i < 5; ++i) pictures.stamp(700'000'000 + i * kFrameUs, kFrameUs);
  std::uint32_t epoch = 0;
  for (int i = 1; i < 80; ++i) {
    const auto stamp = sound.stamp(i * 20'000, 20'000);
    EXPECT_GE(stamp.time.epoch(), epoch);
    epoch = stamp.time.epoch();
    EXPECT_EQ(stamp.time.us(), i * 20'000);
  }
  EXPECT_EQ(epoch, 1U);
}

TEST_F(StampTimeTest, SourceWhoseKindsCountFromDifferentPointsStartsTogether) {
  axis.set_origin(0);
  StampTime pictures(axis, microseconds()), sound(axis, microseconds());
  EXPECT_EQ(pictures.stamp(0, kFrameUs).time.us(), 0);
  const auto first = sound.stamp(-7'000'000'000, 20'000);
  EXPECT_FALSE(first.before_start);
  EXPECT_EQ(first.time.us(), 40'000);
}

struct Wrap {
  int bits;
  std::int64_t start_ticks;
};
class WrapTest : public testing::TestWithParam<Wrap> {};

// 2^32/90k is 13:15:21.86, 2^33/90k is 26:30:43.72.
TEST_P(WrapTest, CounterOf90kHzGoesOn) {
  const auto [bits, start] = GetParam();
  StampAxis axis(core::MediaTime::from_us(0));
  StampTime stamps(axis, {.wrap_bits = bits, .tick_num = 1, .tick_den = 90'000});
  const std::int64_t mask = (std::int64_t{1} << bits) - 1;
  for (int i = 0; i < 500; ++i) {
    const auto stamp = stamps.stamp((start + i * 3600LL) & mask, kFrameUs);
    ASSERT_EQ(stamp.time.us(), i * kFrameUs);
    ASSERT_EQ(stamp.time.epoch(), 0U);
    ASSERT_FALSE(i > 0 && stamp.restamped);
  }
}

INSTANTIATE_TEST_SUITE_P(Counters, WrapTest,
                         testing::Values(Wrap{32, (1LL << 32) - 100'000},
                                         Wrap{33, (1LL << 33) - 100'000}, Wrap{32, 0},
                                         Wrap{33, 1}));

TEST(UnwrapTicks, GoesBothWaysOverTheEdgeAndManyTimesAround) {
  UnwrapTicks unwrap(8);
  EXPECT_EQ(unwrap.unwrap(250), 250);
  EXPECT_EQ(unwrap.unwrap(4), 260);
  EXPECT_EQ(unwrap.unwrap(253), 253);
  std::int64_t expected = 253;
  for (int i = 0; i < 100; ++i) {
    expected += 100;
    EXPECT_EQ(unwrap.unwrap(expected % 256), expected);
  }
}

TEST(UnwrapTicks, FullCounterIsLeftAlone) {
  UnwrapTicks unwrap(64);
  EXPECT_EQ(unwrap.unwrap(INT64_MAX), INT64_MAX);
  EXPECT_EQ(unwrap.unwrap(0), 0);
}

}  // namespace
}  // namespace saccade::ingest
