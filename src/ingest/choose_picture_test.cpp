#include "ingest/choose_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace saccade::ingest {
namespace {

// Indices chosen of `count` pictures at `rate` per second.
std::vector<int> chosen(double fps, double rate, int count, std::int64_t start_us = 0) {
  ChoosePicture choose(fps);
  std::vector<int> out;
  const auto duration = core::MediaDuration::from_us(std::llround(1e6 / rate));
  for (int i = 0; i < count; ++i) {
    const auto time = core::MediaTime::from_us(start_us + std::llround(i * 1e6 / rate));
    if (choose.choose(time, duration, false)) out.push_back(i);
  }
  return out;
}

TEST(ChoosePicture, ZeroMeansEveryPicture) { EXPECT_EQ(chosen(0, 25, 30).size(), 30U); }

TEST(ChoosePicture, GridIsKeptWithoutDrift) {
  EXPECT_EQ(chosen(5, 25, 20), (std::vector<int>{0, 5, 10, 15}));
  // 30000/1001: one in six, for an hour.
  const auto hour = chosen(5, 30000.0 / 1001, 107'892);
  EXPECT_NEAR(static_cast<double>(hour.size()), 18'000, 1);
}

TEST(ChoosePicture, GridBeginsAtTheFirstPicture) {
  EXPECT_EQ(chosen(5, 25, 20, 123'456'789), (std::vector<int>{0, 5, 10, 15}));
}

TEST(ChoosePicture, SlowSourceGivesAllItHas) { EXPECT_EQ(chosen(5, 2, 7).size(), 7U); }

TEST(ChoosePicture, LongGapDoesNotCauseABurst) {
  ChoosePicture choose(5);
  const auto duration = core::MediaDuration::from_ms(40);
  EXPECT_TRUE(choose.choose(core::MediaTime::from_us(0), duration, false));
  EXPECT_TRUE(choose.choose(core::MediaTime::from_us(10'000'000), duration, false));
  EXPECT_FALSE(choose.choose(core::MediaTime::from_us(10'040'000), duration, false));
  EXPECT_TRUE(choose.choose(core::MediaTime::from_us(10'200'000), duration, false));
}

TEST(ChoosePicture, SceneCutComesBesidesTheGrid) {
  ChoosePicture choose(1);
  const auto duration = core::MediaDuration::from_ms(40);
  EXPECT_TRUE(choose.choose(core::MediaTime::from_us(0), duration, false));
  EXPECT_TRUE(choose.choose(core::MediaTime::from_us(400'000), duration, true));
  EXPECT_FALSE(choose.choose(core::MediaTime::from_us(440'000), duration, false));
  EXPECT_TRUE(choose.choose(core::MediaTime::from_us(1'000'000), duration, false));
}

}  // namespace
}  // namespace saccade::ingest
