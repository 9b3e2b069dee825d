#include "core/media_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/rng.h"

namespace saccade::core {
namespace {

__extension__ using Wide = __int128;  // holds every exact result
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// Numbers of every size and sign, the ends included.
std::int64_t any(Rng& rng) {
  static constexpr std::int64_t kEdges[] = {kMin, kMin + 1, -1, 0, 1, kMax - 1, kMax};
  if (rng.between(0, 3) == 0) return kEdges[rng.between(0, 6)];
  return static_cast<std::int64_t>(rng.next() >> rng.between(0, 63)) * (rng.between(0, 1) ? 1 : -1);
}

std::int64_t clamped(Wide us) {
  return static_cast<std::int64_t>(std::clamp<Wide>(us, kMin + 1, kMax - 1));
}

TEST(MediaDuration, ConvertsUnits) {
  EXPECT_EQ(MediaDuration::from_ms(-3).us(), -3'000);
  EXPECT_EQ(MediaDuration::from_seconds(1.5).us(), 1'500'000);
  EXPECT_EQ(MediaDuration::from_seconds(-0.0000006).us(), -1);
  EXPECT_DOUBLE_EQ(MediaDuration::from_us(1'500).ms(), 1.5);
  EXPECT_EQ(MediaDuration::from_us(-4).abs().us(), 4);
}

TEST(MediaDuration, SaturatesInsteadOfOverflowing) {
  EXPECT_EQ(MediaDuration::from_ms(kMax).us(), kMax);
  EXPECT_EQ(MediaDuration::from_ms(kMin).us(), kMin);
  EXPECT_EQ(MediaDuration::from_us(kMin).abs().us(), kMax);
  EXPECT_GT(MediaDuration::from_seconds(1e300).us(), kMax / 2);
  EXPECT_LT(MediaDuration::from_seconds(-1e300).us(), kMin / 2);
  EXPECT_EQ(MediaDuration::from_seconds(std::numeric_limits<double>::quiet_NaN()).us(), 0);
}

TEST(MediaTime, SpecialValuesSortOutside) {
  const MediaTime low = MediaTime::from_us(kMin);
  const MediaTime high = MediaTime::from_us(kMax, std::numeric_limits<std::uint32_t>::max());
  EXPECT_FALSE(low.is_special());
  EXPECT_FALSE(high.is_special());
  EXPECT_LT(MediaTime::unset(), low);
  EXPECT_LT(low, high);
  EXPECT_LT(high, MediaTime::end());
  EXPECT_EQ(MediaTime(), MediaTime::unset());
  EXPECT_EQ(MediaTime::unset().to_string(), "unset");
  EXPECT_EQ(MediaTime::end().to_string(), "end");
  EXPECT_EQ(MediaTime::from_us(12'480'400).to_string(), "12.480");
}

TEST(MediaTime, EpochsSortFirst) {
  EXPECT_LT(MediaTime::from_us(900, 1), MediaTime::from_us(5, 2));
  EXPECT_NE(MediaTime::from_us(5, 1), MediaTime::from_us(5, 2));
  EXPECT_FALSE(MediaTime::from_us(9, 2).since(MediaTime::from_us(5, 1)));
}

TEST(MediaTime, SpecialValuesAbsorbArithmetic) {
  const MediaDuration second = MediaDuration::from_seconds(1);
  EXPECT_EQ(MediaTime::unset() + second, MediaTime::unset());
  EXPECT_EQ(MediaTime::end() - second, MediaTime::end());
  EXPECT_FALSE(MediaTime::end().since(MediaTime::from_us(0)));
  EXPECT_FALSE(MediaTime::from_us(0).since(MediaTime::unset()));
}

TEST(MediaTime, ArithmeticSaturatesForAllInputs) {
  Rng rng(1);
  for (int n = 0; n < 20'000; ++n) {
    const MediaTime t = MediaTime::from_us(any(rng), 3);
    const MediaDuration d = MediaDuration::from_us(any(rng));
    const MediaTime sum = t + d, difference = t - d;
    EXPECT_EQ(sum.us(), clamped(static_cast<Wide>(t.us()) + d.us()));
    EXPECT_EQ(difference.us(), clamped(static_cast<Wide>(t.us()) - d.us()));
    EXPECT_FALSE(sum.is_special());
    EXPECT_EQ(sum.epoch(), 3U);
    const MediaTime other = MediaTime::from_us(any(rng), 3);
    const Wide apart = static_cast<Wide>(t.us()) - other.us();
    const auto since = t.since(other);
    ASSERT_EQ(since.has_value(), apart >= kMin && apart <= kMax);
    if (!since) continue;
    EXPECT_EQ(since->us(), static_cast<std::int64_t>(apart));
  }
}

TEST(MediaTime, OrderIsTotal) {
  Rng rng(2);
  std::vector<MediaTime> times = {MediaTime::unset(), MediaTime::end()};
  for (int n = 0; n < 60; ++n) {
    times.push_back(MediaTime::from_us(any(rng), static_cast<std::uint32_t>(rng.between(0, 2))));
  }
  for (const MediaTime& a : times) {
    for (const MediaTime& b : times) {
      EXPECT_EQ((a < b) + (b < a) + (a == b), 1);
      for (const MediaTime& c : times) EXPECT_TRUE(!(a < b && b < c) || a < c);
    }
  }
}

TEST(MediaTime, FromTicksRoundsToTheNearestMicrosecond) {
  EXPECT_EQ(MediaTime::from_ticks(1, 1, 90'000)->us(), 11);  // 11.1
  EXPECT_EQ(MediaTime::from_ticks(5, 1, 90'000)->us(), 56);  // 55.6
  EXPECT_EQ(MediaTime::from_ticks(-5, 1, 90'000)->us(), -56);
  EXPECT_EQ(MediaTime::from_ticks(1, 1'001, 30'000, 4)->us(), 33'367);
  EXPECT_EQ(MediaTime::from_ticks(1, 1'001, 30'000, 4)->epoch(), 4U);
  // 33-bit transport stream clock just before its wrap: 26.5 hours
  EXPECT_EQ(MediaTime::from_ticks((1LL << 33) - 1, 1, 90'000)->us(), 95'443'717'678);
  Rng rng(3);
  for (int n = 0; n < 20'000; ++n) {
    const std::int64_t ticks = rng.between(-(1LL << 31), 1LL << 31);
    const std::int64_t num = rng.between(1, 2'000), den = rng.between(1, 200'000);
    const auto t = MediaTime::from_ticks(ticks, num, den);
    ASSERT_TRUE(t);
    const Wide error =
        static_cast<Wide>(t->us()) * den - static_cast<Wide>(ticks) * num * 1'000'000;
    EXPECT_LE(2 * (error < 0 ? -error : error), den);
  }
}

TEST(MediaTime, FromTicksRefusesWhatDoesNotFit) {
  EXPECT_FALSE(MediaTime::from_ticks(1, 1, 0));
  EXPECT_FALSE(MediaTime::from_ticks(1, 1, -5));
  EXPECT_FALSE(MediaTime::from_ticks(1, -1, 5));
  EXPECT_FALSE(MediaTime::from_ticks(kMax, 1, 1));
  EXPECT_FALSE(MediaTime::from_ticks(kMax, kMax, 1));
  EXPECT_FALSE(MediaTime::from_ticks(kMin, kMax, kMax));
  EXPECT_TRUE(MediaTime::from_ticks(kMax, 1, 1'000'001));
}

TEST(WallMapping, JoinsOneEpochToWallTime) {
  const WallMapping mapping{MediaTime::from_us(2'000'000, 1), WallTime{1'000}};
  EXPECT_EQ(mapping.wall_at(MediaTime::from_us(2'000'500, 1))->us, 1'500);
  EXPECT_EQ(mapping.wall_at(MediaTime::from_us(0, 1))->us, -1'999'000);
  EXPECT_FALSE(mapping.wall_at(MediaTime::from_us(2'000'500, 2)));
  EXPECT_FALSE(mapping.wall_at(MediaTime::end()));
  const WallMapping extreme{MediaTime::from_us(-5), WallTime{kMax}};
  EXPECT_EQ(extreme.wall_at(MediaTime::from_us(5))->us, kMax);
}

}  // namespace
}  // namespace saccade::core
