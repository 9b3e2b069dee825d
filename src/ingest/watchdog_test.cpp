#include "ingest/watchdog.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/rng.h"

namespace saccade::ingest {
namespace {

constexpr std::int64_t kLimitUs = 3'000'000;
constexpr int kSide = 64;

core::SteadyTime at_ms(std::int64_t ms) { return core::SteadyTime{ms * 1000}; }

PictureSignature sign(const std::vector<std::uint8_t>& rgb) {
  return sign_picture({rgb.data(), kSide, kSide, kSide * core::kRgbBytes});
}

std::vector<std::uint8_t> grey() {
  return std::vector<std::uint8_t>(kSide * kSide * core::kRgbBytes, 90);
}

PictureSignature noisy_picture(core::Rng& rng) {
  std::vector<std::uint8_t> rgb = grey();
  for (auto& value : rgb) value = static_cast<std::uint8_t>(88 + rng.next() % 5);
  return sign(rgb);
}

// A screen on which only a corner changes.
PictureSignature screen_picture(int step) {
  std::vector<std::uint8_t> rgb = grey();
  for (int i = 0; i < 20; ++i) rgb[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(step);
  return sign(rgb);
}

TEST(Watchdog, SilenceIsSeenAtTheLimitAndGivenUpAtTwice) {
  Watchdog watchdog(kLimitUs);
  watchdog.start(at_ms(0));
  watchdog.saw_picture(at_ms(1000), screen_picture(1));
  EXPECT_EQ(watchdog.health(at_ms(3999)), Health::kFine);
  EXPECT_EQ(watchdog.next_check(at_ms(1000)), at_ms(4000));
  EXPECT_EQ(watchdog.health(at_ms(4000)), Health::kSilent);
  EXPECT_EQ(watchdog.next_check(at_ms(4000)), at_ms(7000));
  EXPECT_EQ(watchdog.health(at_ms(7000)), Health::kDead);
}

TEST(Watchdog, SignsOfLifeCount) {
  Watchdog watchdog(kLimitUs);
  watchdog.start(at_ms(0));
  for (int ms = 0; ms <= 20'000; ms += 500) {
    watchdog.saw_life(at_ms(ms));
    ASSERT_EQ(watchdog.health(at_ms(ms + 400)), Health::kFine);
  }
}

TEST(Watchdog, AStillSceneIsNoFault) {
  Watchdog watchdog(kLimitUs);
  watchdog.start(at_ms(0));
  for (int ms = 0; ms < 600'000; ms += 200) {
    watchdog.saw_picture(at_ms(ms), screen_picture(7));
    ASSERT_EQ(watchdog.health(at_ms(ms)), Health::kFine);
  }
}

TEST(Watchdog, AScreenThatStopsChangingIsNoFault) {
  Watchdog watchdog(kLimitUs);
  watchdog.start(at_ms(0));
  for (int ms = 0; ms < 60'000; ms += 200)
    watchdog.saw_picture(at_ms(ms), screen_picture(ms / 200));
  for (int ms = 60'000; ms < 120'000; ms += 200) {
    watchdog.saw_picture(at_ms(ms), screen_picture(3));
    ASSERT_EQ(watchdog.health(at_ms(ms)), Health::kFine);
  }
}

TEST(Watchdog, ANoisyCameraThatRepeatsItselfIsFrozen) {
  Watchdog watchdog(kLimitUs);
  watchdog.start(at_ms(0));
  core::Rng rng(5);
  for (int ms = 0; ms < 10'000; ms += 200) watchdog.saw_picture(at_ms(ms), noisy_picture(rng));
  const PictureSignature last = noisy_picture(rng);
  Health health = Health::kFine;
  int frozen_at = 0;
  for (int ms = 10'000; ms < 15'000 && health == Health::kFine; ms += 200) {
    watchdog.saw_picture(at_ms(ms), last);
    health = watchdog.health(at_ms(ms));
    frozen_at = ms;
  }
  EXPECT_EQ(health, Health::kFrozen);
  EXPECT_EQ(frozen_at, 13'000);
  watchdog.saw_picture(at_ms(13'200), noisy_picture(rng));
  EXPECT_EQ(watchdog.health(at_ms(13'200)), Health::kFine);
}

TEST(Watchdog, ASourceThatHasRepeatedBeforeMayRepeatAgain) {
  Watchdog watchdog(kLimitUs);
  watchdog.start(at_ms(0));
  core::Rng rng(6);
  int ms = 0;
  for (int i = 0; i < 200; ++i, ms += 200) {  // a slide show: each picture twice
    const PictureSignature slide = noisy_picture(rng);
    watchdog.saw_picture(at_ms(ms), slide);
    watchdog.saw_picture(at_ms(ms + 100), slide);
  }
  const PictureSignature last = noisy_picture(rng);
  for (int i = 0; i < 100; ++i, ms += 200) watchdog.saw_picture(at_ms(ms), last);
  EXPECT_EQ(watchdog.health(at_ms(ms)), Health::kFine);
}

TEST(Watchdog, ANewConnectionMustProveItsNoiseAgain) {
  Watchdog watchdog(kLimitUs);
  watchdog.start(at_ms(0));
  core::Rng rng(8);
  for (int ms = 0; ms < 10'000; ms += 200) watchdog.saw_picture(at_ms(ms), noisy_picture(rng));
  watchdog.start(at_ms(10'000));
  const PictureSignature same = noisy_picture(rng);
  for (int ms = 10'000; ms < 60'000; ms += 200) watchdog.saw_picture(at_ms(ms), same);
  EXPECT_EQ(watchdog.health(at_ms(60'000)), Health::kFine);
}

}  // namespace
}  // namespace saccade::ingest
