// The clock measurement alone: what it follows, and what it must not follow.
#include "align/track_skew.h"

#include <gtest/gtest.h>

#include "align/frames_for_test.h"

namespace saccade::align {
namespace {

// Feeds `seconds` of one picture and one block every 100 ms. The sound clock is `ppm` fast and
// sound arrives `delay_us` late.
void feed(SkewTracker& skew, double& now_s, double seconds, double ppm, std::int64_t delay_us) {
  for (const double end_s = now_s + seconds; now_s < end_s; now_s += 0.1) {
    const auto us = static_cast<std::int64_t>(now_s * 1e6);
    ingest::Frame seen = picture(us, 0);
    ingest::Frame heard = sound(us + static_cast<std::int64_t>(now_s * ppm), 0);
    heard.captured = core::SteadyTime{us + delay_us};
    skew.see(SourceKind::kVideo, seen);
    skew.see(SourceKind::kAudio, heard);
    skew.sound_shift_us(heard.time.us());
  }
}

TEST(SkewTracker, FollowsDrift) {
  SkewTracker skew(ClockRule::kDrift);
  double now_s = 0;
  feed(skew, now_s, 600, 400, 0);
  EXPECT_NEAR(static_cast<double>(skew.sound_shift_us()), -240'000, 20'000);
}

TEST(SkewTracker, ConstantDelayOfOneKindIsNoSkew) {
  SkewTracker skew(ClockRule::kDrift);
  double now_s = 0;
  feed(skew, now_s, 300, 0, 300'000);
  EXPECT_EQ(skew.sound_shift_us(), 0);
}

TEST(SkewTracker, ABurstOfDelayMovesItLittle) {
  SkewTracker skew(ClockRule::kDrift);
  double now_s = 0;
  feed(skew, now_s, 60, 0, 0);
  feed(skew, now_s, 3, 0, 2'000'000);
  feed(skew, now_s, 5, 0, 0);
  EXPECT_LT(std::abs(skew.sound_shift_us()), 10'000);
}

TEST(SkewTracker, RecordedStampsAreNeverMoved) {
  SkewTracker skew(ClockRule::kStamps);
  double now_s = 0;
  feed(skew, now_s, 60, 5'000, 700'000);
  EXPECT_EQ(skew.sound_shift_us(), 0);
}

TEST(SkewTracker, ShiftedSoundStampsStillRise) {
  SkewTracker skew(ClockRule::kArrival);
  std::int64_t last_us = -1'000'000;
  for (int n = 0; n < 3'000; ++n) {
    ingest::Frame seen = picture(n * 20'000, 0);
    seen.captured.us += n % 700 < 350 ? 0 : 900'000;  // the path of the pictures changes
    skew.see(SourceKind::kVideo, seen);
    ingest::Frame heard = sound(n * 20'000, 0);
    skew.see(SourceKind::kAudio, heard);
    const std::int64_t us = heard.time.us() + skew.sound_shift_us(heard.time.us());
    EXPECT_GT(us, last_us);
    last_us = us;
  }
}

TEST(OffsetMean, IsThePlainMeanAtFirst) {
  OffsetMean mean;
  EXPECT_FALSE(mean.known());
  for (int n = 0; n < 10; ++n) mean.add(n * 100'000, n * 100'000 + (n % 2 ? 10'000 : 0));
  EXPECT_NEAR(mean.us(), 5'000, 1'000);
}

TEST(OffsetMean, StaysExactFarFromZero) {
  OffsetMean mean;
  const std::int64_t wall_us = 1'700'000'000'000'000;
  for (int n = 0; n < 1'000; ++n) mean.add(n * 20'000, wall_us + n * 20'000);
  EXPECT_DOUBLE_EQ(mean.us(), static_cast<double>(wall_us));
}

}  // namespace
}  // namespace saccade::align
