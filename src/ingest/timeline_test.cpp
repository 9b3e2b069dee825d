#include "ingest/timeline.h"

#include <gtest/gtest.h>

namespace saccade::ingest {
namespace {

using Verdict = Timeline::Verdict;

Frame picture(std::int64_t ms, std::uint32_t epoch = 0, std::int64_t duration_ms = 40) {
  Frame frame;
  frame.time = core::MediaTime::from_us(ms * 1000, epoch);
  frame.duration = core::MediaDuration::from_ms(duration_ms);
  return frame;
}
Frame sound(std::int64_t ms, std::uint32_t epoch = 0) {
  Frame frame = picture(ms, epoch, 20);
  frame.payload = Sound{};
  return frame;
}
core::SteadyTime at_ms(std::int64_t ms) { return core::SteadyTime{ms * 1000}; }

TEST(Timeline, TimesMustRisePerKind) {
  Timeline timeline;
  Frame a = picture(100), b = picture(100), c = picture(60), d = sound(40), e = picture(140);
  EXPECT_EQ(timeline.place(a, at_ms(0)), Verdict::kGive);
  EXPECT_EQ(timeline.place(b, at_ms(0)), Verdict::kLate);
  EXPECT_EQ(timeline.place(c, at_ms(0)), Verdict::kLate);
  EXPECT_EQ(timeline.place(d, at_ms(0)), Verdict::kGive) << "kinds are independent";
  EXPECT_EQ(timeline.place(e, at_ms(0)), Verdict::kGive);
}

TEST(Timeline, ANewEpochMayNotStepBackInSeconds) {
  Timeline timeline;
  Frame a = picture(1000), b = picture(900, 1), c = picture(1000, 1);
  EXPECT_EQ(timeline.place(a, at_ms(0)), Verdict::kGive);
  EXPECT_EQ(timeline.place(b, at_ms(0)), Verdict::kLate);
  EXPECT_EQ(timeline.place(c, at_ms(0)), Verdict::kGive);
}

TEST(Timeline, ALoopFollowsWhereTheRunEnded) {
  Timeline timeline;
  Frame a = picture(0), b = sound(960);
  timeline.place(a, at_ms(0));
  timeline.place(b, at_ms(0));
  timeline.note_end(core::MediaDuration::from_ms(1000));
  timeline.begin_loop();
  Frame c = picture(0);
  EXPECT_EQ(timeline.place(c, at_ms(10)), Verdict::kGive);
  EXPECT_EQ(c.time, core::MediaTime::from_us(1'000'000, 1));
}

TEST(Timeline, ALoopedStillAdvances) {
  Timeline timeline;
  std::int64_t before_us = -1;
  for (int i = 0; i < 5; ++i) {
    Frame still = picture(0, 0, 0);
    EXPECT_EQ(timeline.place(still, at_ms(0)), Verdict::kGive);
    EXPECT_GT(still.time.us(), before_us);
    before_us = still.time.us();
    timeline.begin_loop();
  }
}

TEST(Timeline, AReconnectContinuesAfterTheGap) {
  Timeline timeline;
  Frame a = picture(5000);
  timeline.place(a, at_ms(100'000));
  timeline.begin_reconnect();
  Frame b = picture(7), c = sound(0), d = picture(207);
  EXPECT_EQ(timeline.place(b, at_ms(103'000)), Verdict::kGive);
  EXPECT_EQ(b.time, core::MediaTime::from_us(8'000'000, 1));
  timeline.place(c, at_ms(103'000));
  EXPECT_EQ(c.time, core::MediaTime::from_us(7'993'000, 1)) << "both kinds move together";
  timeline.place(d, at_ms(103'200));
  EXPECT_EQ(d.time, core::MediaTime::from_us(8'200'000, 1));
}

TEST(Timeline, AReconnectNeverGoesBackwards) {
  Timeline timeline;
  Frame a = picture(5000, 0, 4000);
  timeline.place(a, at_ms(100));
  timeline.begin_reconnect();
  Frame b = picture(0);
  EXPECT_EQ(timeline.place(b, at_ms(100)), Verdict::kGive);
  EXPECT_GE(b.time.us(), 9'000'000);
}

TEST(Timeline, FailedAttemptsDoNotCountAsEpochs) {
  Timeline timeline;
  timeline.begin_reconnect();
  timeline.begin_reconnect();
  Frame a = picture(0);
  timeline.place(a, at_ms(9000));
  EXPECT_EQ(a.time, core::MediaTime::from_us(0, 0));
  timeline.begin_reconnect();
  timeline.begin_reconnect();
  Frame b = picture(0);
  timeline.place(b, at_ms(9500));
  EXPECT_EQ(b.time.epoch(), 1u);
}

TEST(Timeline, AReplaySkipsWhatWasGiven) {
  Timeline timeline;
  Frame a = picture(0), b = picture(200), c = sound(0);
  timeline.place(a, at_ms(0));
  timeline.place(b, at_ms(0));
  timeline.place(c, at_ms(0));
  timeline.begin_replay();
  Frame again_a = picture(0), again_b = picture(200), next = picture(400), next_sound = sound(20);
  EXPECT_EQ(timeline.place(again_a, at_ms(1)), Verdict::kGivenBefore);
  EXPECT_EQ(timeline.place(again_b, at_ms(1)), Verdict::kGivenBefore);
  EXPECT_EQ(timeline.place(next, at_ms(1)), Verdict::kGive);
  EXPECT_EQ(next.time, core::MediaTime::from_us(400'000, 0));
  EXPECT_TRUE(timeline.replaying());
  EXPECT_EQ(timeline.place(next_sound, at_ms(1)), Verdict::kGive);
  EXPECT_FALSE(timeline.replaying());
}

}  // namespace
}  // namespace saccade::ingest
