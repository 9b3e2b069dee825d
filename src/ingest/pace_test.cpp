#include "ingest/pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace saccade::ingest {
namespace {

Frame frame_at(std::int64_t ms, bool sound = false, std::uint32_t epoch = 0) {
  Frame frame;
  frame.time = core::MediaTime::from_us(ms * 1000, epoch);
  if (sound) frame.payload = Sound{};
  return frame;
}

core::SteadyTime at_ms(std::int64_t ms) { return core::SteadyTime{ms * 1000}; }

TEST(Pace, NoFrameIsEarly) {
  Pace pace;
  for (int i = 0; i < 10; ++i) pace.put(frame_at(1000 + i * 200), at_ms(50'000));
  std::vector<std::int64_t> given;
  for (std::int64_t now = 50'000; now < 52'000; ++now) {
    while (const auto frame = pace.take(at_ms(now))) {
      given.push_back(now);
      EXPECT_EQ(now - 50'000, frame->time.us() / 1000 - 1000);
      EXPECT_EQ(frame->captured, at_ms(now)) << "a live source would have taken it now";
    }
  }
  EXPECT_EQ(given.size(), 10u);
}

TEST(Pace, UnevenInterleavingIsPutInTimeOrder) {
  Pace pace;
  pace.put(frame_at(0), at_ms(0));
  pace.put(frame_at(500, true), at_ms(0));
  pace.put(frame_at(200), at_ms(0));
  pace.put(frame_at(400), at_ms(0));
  std::vector<std::int64_t> order;
  for (std::int64_t now = 0; now <= 600; now += 10) {
    while (const auto frame = pace.take(at_ms(now))) order.push_back(frame->time.us() / 1000);
  }
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 200, 400, 500}));
}

TEST(Pace, PicturesFarAheadAreEnough) {
  Pace pace;
  pace.put(frame_at(0), at_ms(0));
  pace.put(frame_at(9'000, true), at_ms(0));
  pace.put(frame_at(2'000), at_ms(0));
  EXPECT_FALSE(pace.full());
  pace.put(frame_at(3'000), at_ms(0));
  EXPECT_TRUE(pace.full());
  ASSERT_TRUE(pace.take(at_ms(0)));
  EXPECT_FALSE(pace.full());
}

TEST(Pace, AStalledTakerIsNotFollowedByASprint) {
  Pace pace;
  for (int i = 0; i < 50; ++i) pace.put(frame_at(i * 200), at_ms(0));
  ASSERT_TRUE(pace.take(at_ms(0)));
  ASSERT_TRUE(pace.take(at_ms(5000)));  // nobody came for 5 s
  EXPECT_FALSE(pace.take(at_ms(5000)));
  EXPECT_EQ(pace.next_due(), at_ms(5200));
}

TEST(Pace, ShortDelaysAreCaughtUp) {
  Pace pace;
  for (int i = 0; i < 5; ++i) pace.put(frame_at(i * 200), at_ms(0));
  ASSERT_TRUE(pace.take(at_ms(0)));
  ASSERT_TRUE(pace.take(at_ms(450)));
  ASSERT_TRUE(pace.take(at_ms(450)));
  EXPECT_EQ(pace.next_due(), at_ms(600));
}

TEST(Pace, ANewEpochContinuesTheAxis) {
  Pace pace;
  pace.put(frame_at(0), at_ms(0));
  pace.put(frame_at(1000, false, 1), at_ms(0));
  ASSERT_TRUE(pace.take(at_ms(0)));
  EXPECT_FALSE(pace.take(at_ms(999)));
  EXPECT_TRUE(pace.take(at_ms(1000)));
}

TEST(Pace, SaysWhenItIsFull) {
  Pace pace;
  for (std::size_t i = 0; i < Pace::kPendingMax; ++i) {
    EXPECT_FALSE(pace.full());
    pace.put(frame_at(static_cast<std::int64_t>(i)), at_ms(0));
  }
  EXPECT_TRUE(pace.full());
}

}  // namespace
}  // namespace saccade::ingest
