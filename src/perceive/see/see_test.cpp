#include "perceive/see/see.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <type_traits>
#include <utility>

#include "core/rng.h"
#include "perceive/see/fake_encoder.h"
#include "perceive/see/test_picture.h"

namespace saccade::perceive {
namespace {

using core::MediaDuration;
using core::MediaTime;

static_assert(std::is_move_constructible_v<Seer>);  // sessions build it and hand it on

ingest::Frame frame_at(std::int64_t ms, const TestPicture& picture, std::uint32_t epoch = 0) {
  ingest::Frame frame;
  frame.time = MediaTime::from_us(ms * 1000, epoch);
  frame.payload = ingest::Picture{picture.pixels()};
  return frame;
}

SeenResult must_see(Seer& seer, const ingest::Frame& frame, const core::Knobs& knobs = {}) {
  auto result = seer.see(frame, knobs);
  EXPECT_TRUE(result.ok());
  return result.ok() ? *result : SeenResult{};
}

core::Knobs tiles_knob(int tiles) {
  core::Knobs knobs;
  knobs.fovea_tiles_max = tiles;
  return knobs;
}

std::set<std::pair<int, int>> places_of(const std::vector<SeenView>& views) {
  std::set<std::pair<int, int>> out;
  for (const SeenView& view : views) out.insert({view.place.row, view.place.column});
  return out;
}

TEST(Seer, StaticNoisySceneIsEncodedOnce) {
  core::Rng rng(11);
  FakeEncoder encoder;
  Seer seer(&encoder);
  const TestPicture scene(640, 360, 90);
  for (int i = 0; i < 8; ++i) {
    const auto seen = must_see(seer, frame_at(i * 100, scene.with_noise(6, rng)));
    EXPECT_EQ(seen.unchanged, i > 0);
    ASSERT_EQ(seen.views.size(), 1U);
    EXPECT_EQ(seen.views[0].age.us(), i * 100'000);
    EXPECT_EQ(seen.views[0].source, (core::Rect{0, 0, 640, 360}));
  }
  EXPECT_EQ(encoder.calls(), 1);
}

TEST(Seer, BlinkingPatchCostsItsTileOnlyAndThenNothing) {
  FakeEncoder encoder(true);
  Seer seer(&encoder);
  const core::Knobs knobs = tiles_knob(4);
  const TestPicture off(640, 640, 60);
  TestPicture on = off;
  on.fill({500, 100, 12, 12}, {250, 60, 60});

  EXPECT_EQ(must_see(seer, frame_at(0, off), knobs).encoded, 5);  // global and 2 x 2
  encoder.places.clear();
  const auto lit = must_see(seer, frame_at(100, on), knobs);
  EXPECT_FALSE(lit.unchanged);
  EXPECT_EQ(encoder.places, (std::vector<engine::ViewPlace>{{0, 0}, {1, 2}}));
  ASSERT_EQ(lit.views.size(), 5U);
  EXPECT_EQ(lit.views[1].age.us(), 100'000);  // still tile, old tokens
  EXPECT_EQ(lit.views[2].age.us(), 0);        // the lamp's tile

  for (int i = 2; i < 10; ++i) {
    const auto seen = must_see(seer, frame_at(i * 100, i % 2 == 0 ? off : on), knobs);
    EXPECT_FALSE(seen.unchanged);
    EXPECT_EQ(seen.encoded, 0);
    EXPECT_EQ(seen.cache_hits, 2);
    EXPECT_TRUE(seen.views[0].cached);
    EXPECT_FALSE(seen.views[1].cached);
  }
  EXPECT_EQ(encoder.calls(), 2);
}

TEST(Seer, SlowFadeIsEncodedAgainEachThresholdStep) {
  FakeEncoder encoder;
  Seer seer(&encoder);
  for (int i = 0; i <= 130; ++i) {
    must_see(seer, frame_at(i * 40, TestPicture(320, 180, static_cast<std::uint8_t>(40 + i))));
  }
  EXPECT_EQ(encoder.calls(), 1 + 130 / 13);
}

TEST(Seer, SceneCutIsReportedOnce) {
  FakeEncoder encoder;
  Seer seer(&encoder);
  const TestPicture a(320, 180, 30), b(320, 180, 200);
  EXPECT_FALSE(must_see(seer, frame_at(0, a)).change.scene_cut);
  EXPECT_TRUE(must_see(seer, frame_at(100, b)).change.scene_cut);
  const auto after = must_see(seer, frame_at(200, b));
  EXPECT_FALSE(after.change.scene_cut);
  EXPECT_TRUE(after.unchanged);
}

TEST(Seer, RefreshComesInMediaTime) {
  core::Rng rng(5);
  FakeEncoder encoder;
  Seer seer(&encoder);
  core::Knobs knobs;
  knobs.refresh_max = MediaDuration::from_ms(1000);
  const TestPicture scene(320, 180, 90);
  for (int i = 0; i <= 30; ++i) {
    const auto seen = must_see(seer, frame_at(i * 100, scene.with_noise(4, rng)), knobs);
    EXPECT_EQ(seen.unchanged, i % 10 != 0) << i;
  }
  EXPECT_EQ(encoder.calls(), 4);
}

TEST(Seer, BitEqualPixelsAreNeverEncodedTwice) {
  FakeEncoder encoder;
  Seer seer(&encoder);
  core::Knobs knobs;
  knobs.refresh_max = MediaDuration::from_ms(0);  // look again each time
  const TestPicture scene(320, 180, 90);
  for (int i = 0; i < 5; ++i) must_see(seer, frame_at(i * 100, scene), knobs);
  must_see(seer, frame_at(0, scene, 1), knobs);  // even over a discontinuity
  EXPECT_EQ(encoder.calls(), 1);
}

TEST(Seer, NewEpochOrStepBackStartsOver) {
  FakeEncoder encoder;
  Seer seer(&encoder);
  const TestPicture a(320, 180, 30), b(320, 180, 200);
  must_see(seer, frame_at(1000, a));
  const auto jumped = must_see(seer, frame_at(1000, b, 1));
  EXPECT_FALSE(jumped.unchanged);
  EXPECT_FALSE(jumped.change.scene_cut);
  const auto back = must_see(seer, frame_at(500, b, 1));
  EXPECT_FALSE(back.unchanged);
  EXPECT_EQ(back.cache_hits, 1);
}

TEST(Seer, AnotherSizeStartsOver) {
  FakeEncoder encoder(true);
  Seer seer(&encoder);
  must_see(seer, frame_at(0, TestPicture(640, 640, 30)), tiles_knob(9));
  const auto seen = must_see(seer, frame_at(100, TestPicture(320, 960, 30)), tiles_knob(9));
  EXPECT_FALSE(seen.unchanged);
  EXPECT_EQ(places_of(seen.views), (std::set<std::pair<int, int>>{{0, 0}, {1, 1}, {2, 1}, {3, 1}}));
}

TEST(Seer, FoveaVisitsTheWholePictureWithinItsBudget) {
  FakeEncoder encoder(true);
  Seer seer(&encoder);
  TestPicture scene(960, 960, 60);  // 3 x 3
  std::set<std::pair<int, int>> visited;
  for (int i = 0; i < 9; ++i) {
    // The top left corner blinks all the time and must not starve the others.
    scene.fill({10, 10, 30, 30}, {static_cast<std::uint8_t>(20 * i), 0, 250});
    const auto seen = must_see(seer, frame_at(i * 100, scene), tiles_knob(2));
    EXPECT_LE(seen.views.size(), 3U);
    EXPECT_LE(seen.encoded, 3);
    visited.merge(places_of(seen.views));
  }
  EXPECT_EQ(visited.size(), 10U);
}

// Two tiles change, one fits: the other one's turn comes although it does not move again.
TEST(Seer, ChangeWithoutAPlaceIsNotForgotten) {
  FakeEncoder encoder(true);
  Seer seer(&encoder);
  TestPicture scene(640, 320, 60);  // 1 x 2
  must_see(seer, frame_at(0, scene), tiles_knob(2));
  scene.fill({100, 100, 30, 30}, {250, 250, 250});
  scene.fill({500, 100, 30, 30}, {250, 250, 250});
  const auto first = must_see(seer, frame_at(100, scene), tiles_knob(1));
  scene.fill({100, 100, 30, 30}, {250, 0, 0});
  const auto second = must_see(seer, frame_at(200, scene), tiles_knob(1));
  ASSERT_EQ(first.views.size(), 2U);
  ASSERT_EQ(second.views.size(), 2U);
  EXPECT_EQ(first.views[1].place, (engine::ViewPlace{1, 1}));
  EXPECT_EQ(second.views[1].place, (engine::ViewPlace{1, 2}));
  EXPECT_EQ(second.encoded, 2);
}

TEST(Seer, EncoderFaultIsReportedAndTheStreamGoesOn) {
  FakeEncoder encoder;
  Seer seer(&encoder);
  const TestPicture good(320, 180, 30), bad(320, 180, 200), next(320, 180, 120);
  must_see(seer, frame_at(0, good));
  encoder.fail_next = true;
  const auto failed = must_see(seer, frame_at(100, bad));
  ASSERT_TRUE(failed.fault.has_value());
  EXPECT_EQ(failed.fault->code, core::ErrorCode::kNumeric);
  EXPECT_TRUE(failed.views.empty());
  EXPECT_FALSE(failed.unchanged);
  const auto again = must_see(seer, frame_at(200, bad));  // told once, tried once
  EXPECT_FALSE(again.fault.has_value());
  EXPECT_TRUE(again.views.empty());
  EXPECT_FALSE(again.unchanged);
  EXPECT_TRUE(again.change.regions.empty()) << "nothing changed since the picture before";
  EXPECT_EQ(encoder.calls(), 2);
  const auto back = must_see(seer, frame_at(300, good));  // kept content, but nothing to show
  EXPECT_FALSE(back.fault.has_value());
  EXPECT_EQ(back.views.size(), 1U);
  EXPECT_EQ(must_see(seer, frame_at(400, next)).views.size(), 1U);
}

TEST(Seer, WithoutEncoderChangeIsStillMeasured) {
  Seer seer(nullptr);
  TestPicture scene(320, 180, 30);
  EXPECT_FALSE(must_see(seer, frame_at(0, scene)).unchanged);
  EXPECT_TRUE(must_see(seer, frame_at(100, scene)).unchanged);
  scene.fill({40, 40, 20, 20}, {200, 200, 200});
  const auto seen = must_see(seer, frame_at(200, scene));
  EXPECT_FALSE(seen.unchanged);
  EXPECT_TRUE(seen.views.empty());
  EXPECT_TRUE(must_see(seer, frame_at(300, scene)).unchanged);
}

TEST(Seer, OddShapes) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 4096}, {4096, 1}, {400, 800}}) {
    FakeEncoder encoder(true);
    Seer seer(&encoder);
    const TestPicture scene(width, height, 30);
    const auto seen = must_see(seer, frame_at(0, scene), tiles_knob(16));
    EXPECT_EQ(static_cast<int>(seen.views.size()), encoder.calls());
    EXPECT_TRUE(must_see(seer, frame_at(100, scene), tiles_knob(16)).unchanged);
  }
}

TEST(Seer, RefusesWhatItCannotSee) {
  Seer seer(nullptr);
  ingest::Frame sound;
  sound.payload = ingest::Sound{};
  EXPECT_EQ(seer.see(sound, {}).error().code, core::ErrorCode::kUsage);
  ingest::Frame empty;
  empty.payload = ingest::Picture{};
  EXPECT_EQ(seer.see(empty, {}).error().code, core::ErrorCode::kMediaUnusable);
  core::Knobs knobs;
  knobs.change_threshold = 256;
  EXPECT_EQ(seer.see(frame_at(0, TestPicture(4, 4, 0)), knobs).error().code,
            core::ErrorCode::kUsage);
  EXPECT_EQ(seer.see(frame_at(0, TestPicture(4, 4, 0)), tiles_knob(-1)).error().code,
            core::ErrorCode::kUsage);
}

}  // namespace
}  // namespace saccade::perceive
