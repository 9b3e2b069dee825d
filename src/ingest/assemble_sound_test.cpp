#include "ingest/assemble_sound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace saccade::ingest {
namespace {

std::vector<float> tone(std::size_t samples, float level = 0.5F) {
  return std::vector<float>(samples, level);
}
core::MediaTime at(std::int64_t us, std::uint32_t epoch = 0) {
  return core::MediaTime::from_us(us, epoch);
}

bool rises(const std::vector<ReadSound>& blocks) {
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    if (blocks[i].time.us() <= blocks[i - 1].time.us()) return false;
  }
  return true;
}

TEST(AssembleSound, AnyCuttingGivesTheSameBlocks) {
  std::vector<float> ramp(5000);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i) / 5000;
  for (const std::size_t piece : {1U, 7U, 319U, 320U, 321U, 1024U, 5000U}) {
    AssembleSound assemble;
    std::vector<ReadSound> out;
    for (std::size_t i = 0; i < ramp.size(); i += piece) {
      const auto count = std::min(piece, ramp.size() - i);
      assemble.push(std::span(ramp).subspan(i, count), at(static_cast<std::int64_t>(i * 125 / 2)),
                    out);
    }
    assemble.finish(out);
    ASSERT_EQ(out.size(), 16U) << piece;
    std::vector<float> joined;
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_EQ(out[i].samples.size(), i < 15 ? 320U : 200U);
      EXPECT_NEAR(static_cast<double>(out[i].time.us()), static_cast<double>(i) * 20'000, 1);
      EXPECT_FALSE(out[i].gap);
      joined.insert(joined.end(), out[i].samples.begin(), out[i].samples.end());
    }
    EXPECT_EQ(joined, ramp) << piece;
  }
}

TEST(AssembleSound, GapBecomesMarkedSilence) {
  AssembleSound assemble;
  std::vector<ReadSound> out;
  assemble.push(tone(500), at(0), out);
  assemble.push(tone(500), at(531'250), out);  // half a second is missing
  assemble.finish(out);
  std::size_t samples = 0, gaps = 0;
  for (const auto& block : out) {
    samples += block.samples.size();
    gaps += block.gap ? 1 : 0;
    if (!block.gap) continue;
    for (const float sample : block.samples) EXPECT_EQ(sample, 0.0F);
  }
  EXPECT_EQ(samples, 9000U);
  EXPECT_EQ(gaps, 24U);  // whole blocks; the mixed ones at both ends hold sound
  EXPECT_TRUE(rises(out));
}

TEST(AssembleSound, EndlessGapIsBoundedAndTimeGoesOnBehindIt) {
  AssembleSound assemble;
  std::vector<ReadSound> out;
  assemble.push(tone(320), at(0), out);
  assemble.push(tone(320), at(500'000'000), out);
  EXPECT_EQ(out.size(), 1U + 500U + 1U);
  EXPECT_EQ(out.back().time.us(), 500'000'000);
  EXPECT_FALSE(out.back().gap);
  EXPECT_TRUE(rises(out));
}

TEST(AssembleSound, ShortHiccupIsNoGap) {
  AssembleSound assemble;
  std::vector<ReadSound> out;
  assemble.push(tone(1600), at(0), out);
  assemble.push(tone(1600), at(180'000), out);  // 80 ms late
  EXPECT_EQ(out.size(), 10U);
  for (const auto& block : out) EXPECT_FALSE(block.gap);
}

TEST(AssembleSound, OverlapIsKeptAndTimeStillRises) {
  AssembleSound assemble;
  std::vector<ReadSound> out;
  for (int i = 0; i < 20; ++i) assemble.push(tone(1024), at(i * 30'000), out);  // 64 ms each
  assemble.finish(out);
  std::size_t samples = 0;
  for (const auto& block : out) samples += block.samples.size();
  EXPECT_EQ(samples, 20U * 1024U);
  EXPECT_TRUE(rises(out));
}

class DriftTest : public testing::TestWithParam<double> {};

TEST_P(DriftTest, ForeignClockIsFollowedWithoutGapsForTenMinutes) {
  AssembleSound assemble;
  std::vector<ReadSound> out;
  std::int64_t given = 0;
  double worst_us = 0;
  for (int i = 0; i < 28'000; ++i) {  // pieces of 342 samples as of a 48 kHz AAC stream
    const double true_us = static_cast<double>(i) * 342 * 62.5 * (1 + GetParam());
    out.clear();
    assemble.push(tone(342), at(std::llround(true_us)), out);
    for (const auto& block : out) {
      EXPECT_FALSE(block.gap);
      const double right_us = static_cast<double>(given) * 62.5 * (1 + GetParam());
      worst_us = std::max(worst_us, std::abs(static_cast<double>(block.time.us()) - right_us));
      given += static_cast<std::int64_t>(block.samples.size());
    }
  }
  EXPECT_LT(worst_us, 50'000);
}

INSTANTIATE_TEST_SUITE_P(Clocks, DriftTest, testing::Values(0.0, 200e-6, -200e-6, 0.1, -0.1));

TEST(AssembleSound, NewEpochBeginsWithAWholeBlockBehindIt) {
  AssembleSound assemble;
  std::vector<ReadSound> out;
  assemble.push(tone(500), at(0), out);
  assemble.push(tone(320), at(31'250, 1), out);
  assemble.finish(out);
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[1].samples.size(), 320U);
  EXPECT_EQ(out[1].time.epoch(), 0U);
  EXPECT_EQ(out[2].time.epoch(), 1U);
  EXPECT_TRUE(rises(out));
}

}  // namespace
}  // namespace saccade::ingest
