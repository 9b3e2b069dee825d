#include "perceive/see/measure_change.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/rng.h"
#include "perceive/see/test_picture.h"

namespace saccade::perceive {
namespace {

constexpr int kThreshold = 12;

TEST(MeasureChange, FirstPictureIsAllNewButNoCut) {
  ChangeMeter meter;
  const TestPicture picture(1280, 720, 40);
  const auto outcome = meter.measure(picture.view(), kThreshold);
  EXPECT_EQ(outcome.map.columns, 64);
  EXPECT_EQ(outcome.map.rows, 36);
  EXPECT_EQ(outcome.map.changed_share, 1.0);
  EXPECT_EQ(outcome.map.regions, (std::vector<core::Rect>{{0, 0, 1280, 720}}));
  EXPECT_FALSE(outcome.map.scene_cut);
}

TEST(MeasureChange, EqualPictureIsStill) {
  ChangeMeter meter;
  TestPicture picture(1280, 720, 40);
  picture.fill({100, 100, 200, 50}, {200, 10, 90});
  meter.measure(picture.view(), 0);
  meter.keep();
  const auto outcome = meter.measure(picture.view(), 0);
  EXPECT_EQ(outcome.map.changed_share, 0.0);
  EXPECT_TRUE(outcome.map.regions.empty());
}

TEST(MeasureChange, ADigitSegmentIsSeenAndLocated) {
  ChangeMeter meter;
  TestPicture picture(1280, 720, 30);
  meter.measure(picture.view(), kThreshold);
  meter.keep();
  picture.fill({903, 404, 4, 9}, {230, 230, 230});  // one stroke of a digit 24 px high
  const auto outcome = meter.measure(picture.view(), kThreshold);
  ASSERT_EQ(outcome.map.regions.size(), 1U);
  EXPECT_GT(core::overlap(outcome.map.regions[0], {900, 400, 20, 20}), 0.99);
  EXPECT_FALSE(outcome.map.scene_cut);
}

TEST(MeasureChange, ALampOfEqualBrightnessButOtherColourIsSeen) {
  ChangeMeter meter;
  TestPicture picture(1280, 720, 30);
  picture.fill({600, 300, 30, 30}, {200, 40, 30});
  meter.measure(picture.view(), kThreshold);
  meter.keep();
  picture.fill({600, 300, 30, 30}, {30, 127, 30});  // the same luma within one level
  EXPECT_EQ(meter.measure(picture.view(), kThreshold).map.regions.size(), 1U);
}

TEST(MeasureChange, SensorNoiseIsNoChange) {
  for (const double sigma : {4.0, 10.0, 18.0}) {
    core::Rng rng(7);
    ChangeMeter meter;
    const TestPicture scene(1280, 720, 90);
    meter.measure(scene.with_noise(sigma, rng).view(), kThreshold);
    meter.keep();
    for (int i = 0; i < 2; ++i) {
      const auto outcome = meter.measure(scene.with_noise(sigma, rng).view(), kThreshold);
      EXPECT_EQ(outcome.map.changed_share, 0.0) << "sigma " << sigma;
    }
  }
}

// A codec lets grain through in bursts; between them single blocks deviate just as much.
TEST(MeasureChange, GrainIsRemembered) {
  core::Rng rng(7);
  TestPicture scene(1280, 720, 90), speck = scene;
  speck.fill({500, 300, 5, 5}, {110, 110, 110});
  ChangeMeter fresh, taught;
  for (ChangeMeter* meter : {&fresh, &taught}) {
    meter->measure(scene.view(), kThreshold);
    meter->keep();
  }
  EXPECT_EQ(taught.measure(scene.with_noise(15, rng).view(), kThreshold).map.changed_share, 0.0);
  EXPECT_EQ(taught.measure(speck.view(), kThreshold).map.changed_share, 0.0);
  EXPECT_EQ(fresh.measure(speck.view(), kThreshold).map.regions.size(), 1U);
}

TEST(MeasureChange, ALampIsSeenThroughNoise) {
  core::Rng rng(7);
  ChangeMeter meter;
  TestPicture scene(1280, 720, 90);
  meter.measure(scene.with_noise(10, rng).view(), kThreshold);
  meter.keep();
  scene.fill({700, 200, 16, 16}, {220, 90, 90});
  const auto outcome = meter.measure(scene.with_noise(10, rng).view(), kThreshold);
  ASSERT_EQ(outcome.map.regions.size(), 1U);
  EXPECT_EQ(core::clip(outcome.map.regions[0], 720, 220), outcome.map.regions[0]);
}

// Each step is far below the threshold; only the sum is above.
TEST(MeasureChange, SlowFadeAddsUpAndIsNoCut) {
  ChangeMeter meter;
  meter.measure(TestPicture(640, 360, 50).view(), kThreshold);
  meter.keep();
  int first_seen = 0;
  for (int level = 51; level < 80 && first_seen == 0; ++level) {
    const auto outcome =
        meter.measure(TestPicture(640, 360, static_cast<std::uint8_t>(level)).view(), kThreshold);
    EXPECT_FALSE(outcome.map.scene_cut);
    if (outcome.map.changed_share > 0) first_seen = level;
  }
  EXPECT_EQ(first_seen, 50 + kThreshold + 1);
}

TEST(MeasureChange, CutIsFoundEvenWhenTheKeptContentIsOlder) {
  core::Rng rng(3);
  ChangeMeter meter;
  const TestPicture dark(640, 360, 40), light(640, 360, 200);
  meter.measure(dark.view(), kThreshold);
  meter.keep();
  meter.measure(dark.with_noise(3, rng).view(), kThreshold);  // not kept
  EXPECT_TRUE(meter.measure(light.view(), kThreshold).map.scene_cut);
  // Still another content than the kept one, but it did not come at once.
  const auto after = meter.measure(light.view(), kThreshold);
  EXPECT_EQ(after.map.changed_share, 1.0);
  EXPECT_FALSE(after.map.scene_cut);
}

// What a key frame does to lettering: hard edges move a little, plain areas do not.
TEST(MeasureChange, CodecRingingAtHardEdgesIsNoChangeButAStrokeIs) {
  ChangeMeter meter;
  TestPicture picture(1280, 720, 20);
  for (int x = 200; x < 400; x += 20) picture.fill({x, 300, 10, 40}, {240, 240, 240});
  meter.measure(picture.view(), kThreshold);
  meter.keep();
  for (int x = 200; x < 400; x += 20) picture.fill({x, 300, 10, 40}, {222, 222, 222});
  EXPECT_EQ(meter.measure(picture.view(), kThreshold).map.changed_share, 0.0);
  picture.fill({210, 320, 4, 6}, {240, 240, 240});
  EXPECT_EQ(meter.measure(picture.view(), kThreshold).map.regions.size(), 1U);
}

// A picture of noise-like texture that changes everywhere must not pass as noise.
TEST(MeasureChange, OtherTextureEverywhereIsACut) {
  core::Rng rng(3);
  ChangeMeter meter;
  meter.measure(TestPicture(640, 360, 128).with_noise(120, rng).view(), kThreshold);
  meter.keep();
  const auto outcome =
      meter.measure(TestPicture(640, 360, 128).with_noise(120, rng).view(), kThreshold);
  EXPECT_GT(outcome.map.changed_share, 0.4);
  EXPECT_TRUE(outcome.map.scene_cut);
}

TEST(MeasureChange, RegionsAreBounded) {
  ChangeMeter meter;
  TestPicture picture(1280, 720, 30);
  meter.measure(picture.view(), kThreshold);
  meter.keep();
  for (int y = 0; y < 720; y += 40) {
    for (int x = 0; x < 1280; x += 40) picture.fill({x, y, 10, 10}, {250, 250, 250});
  }
  const auto outcome = meter.measure(picture.view(), kThreshold);
  EXPECT_EQ(outcome.map.regions.size(), kChangeRegionsMax);
  const core::Rect last = outcome.map.regions.back();
  EXPECT_EQ(last.y + last.height, 700);  // the joined one reaches the last patch
}

TEST(MeasureChange, OddShapes) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 4096}, {4096, 1}, {3, 7}, {257, 255}}) {
    ChangeMeter meter;
    TestPicture picture(width, height, 10);
    meter.measure(picture.view(), kThreshold);
    meter.keep();
    EXPECT_EQ(meter.measure(picture.view(), kThreshold).map.changed_share, 0.0);
    picture.fill({width - 8, height - 8, 8, 8}, {255, 255, 255});
    const auto outcome = meter.measure(picture.view(), kThreshold);
    ASSERT_EQ(outcome.map.regions.size(), 1U) << width << "x" << height;
    const core::Rect r = outcome.map.regions[0];
    EXPECT_EQ(r.x + r.width, width);
    EXPECT_EQ(r.y + r.height, height);
  }
}

TEST(MeasureChange, AnotherSizeIsAllNew) {
  ChangeMeter meter;
  meter.measure(TestPicture(64, 48, 10).view(), kThreshold);
  meter.keep();
  const auto outcome = meter.measure(TestPicture(48, 64, 10).view(), kThreshold);
  EXPECT_EQ(outcome.map.changed_share, 1.0);
  EXPECT_FALSE(outcome.map.scene_cut);
}

TEST(MeasureChange, RowPaddingIsNotLookedAt) {
  ChangeMeter meter;
  TestPicture picture(100, 40, 10, 32);
  meter.measure(picture.view(), 0);
  meter.keep();
  picture.fill_padding(255);
  EXPECT_EQ(meter.measure(picture.view(), 0).map.changed_share, 0.0);
}

}  // namespace
}  // namespace saccade::perceive
