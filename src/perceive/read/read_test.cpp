// TextReader's decisions, with a scripted recogniser: what it looks at, what it leaves alone, and
// that no change is lost.
#include "perceive/read/read.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "perceive/read/detect_text.h"
#include "perceive/read/text_sense.h"
#include "perceive/read/track_text.h"

namespace saccade::perceive {
namespace {

struct Planted {
  std::string text;
  core::Rect place;
};

// A screen that says what is planted. Lines cut by the view's border are found cut, as a real
// detector does.
struct Screen {
  std::vector<Planted> lines;
  const std::uint8_t* base = nullptr;
  int detected = 0, recognised = 0, failures = 0;
  std::int64_t pixels = 0, pixels_max = 0;
};

class ScriptedSense final : public TextSense {
 public:
  explicit ScriptedSense(Screen& screen) : screen_(screen) {}

  core::Result<std::vector<FoundText>> detect(const core::PixelView& view,
                                              std::int64_t pixels_max) override {
    ++screen_.detected;
    screen_.pixels_max = pixels_max;
    screen_.pixels += static_cast<std::int64_t>(view.width) * view.height;
    if (screen_.failures > 0) {
      --screen_.failures;
      return core::error(core::ErrorCode::kInternal, "scripted fault");
    }
    const std::ptrdiff_t offset = view.rgb - screen_.base;
    const int x0 = static_cast<int>(offset % view.stride_bytes) / core::kRgbBytes;
    const int y0 = static_cast<int>(offset / view.stride_bytes);
    std::vector<FoundText> found;
    for (const Planted& line : screen_.lines) {
      const core::Rect r =
          core::clip({line.place.x - x0, line.place.y - y0, line.place.width, line.place.height},
                     view.width, view.height);
      if (r.empty()) continue;
      const auto x = static_cast<float>(r.x), y = static_cast<float>(r.y);
      const auto w = static_cast<float>(r.width), h = static_cast<float>(r.height);
      found.push_back(FoundText{Quad{{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}}, 0.9F});
    }
    return found;
  }

  core::Result<LineReading> recognize(const core::PixelView&, const Quad& box) override {
    ++screen_.recognised;
    LineReading reading;
    reading.box = box;
    reading.confidence = 0.97F;
    const core::Rect seen = bounds(box);
    for (const Planted& line : screen_.lines) {
      if (!touches(line.place, seen)) continue;
      // A cut line reads as far as it is seen.
      const std::size_t shown = line.text.size() * static_cast<std::size_t>(seen.width) /
                                static_cast<std::size_t>(line.place.width);
      for (const char c : line.text.substr(0, shown)) {
        reading.characters.push_back(ReadCharacter{std::string(1, c), 0.97F});
      }
      break;
    }
    return reading;
  }

 private:
  Screen& screen_;
};

class Reading : public ::testing::Test {
 protected:
  Reading() : reader(std::make_unique<ScriptedSense>(screen), kTextConfidenceMin) {
    resize(1280, 720);
  }

  void resize(int width, int height) {
    pixels_.width = width, pixels_.height = height;
    pixels_.stride_bytes = static_cast<std::ptrdiff_t>(width) * core::kRgbBytes;
    const auto rows = std::make_shared<std::vector<std::uint8_t>>(
        static_cast<std::size_t>(pixels_.stride_bytes) * static_cast<std::size_t>(height));
    pixels_.data = std::shared_ptr<const std::uint8_t>(rows, rows->data());
    screen.base = pixels_.data.get();
  }

  static core::MediaTime at(int ms, std::uint32_t epoch = 0) {
    return core::MediaTime::from_us(std::int64_t{ms} * 1000, epoch);
  }

  core::Result<ReadResult> try_read(core::MediaTime time, std::vector<core::Rect> changed,
                                    bool cut = false) {
    ingest::Frame frame;
    frame.time = time;
    ingest::Picture picture;
    picture.pixels = pixels_;
    frame.payload = picture;
    ChangeMap change;
    change.regions = std::move(changed);
    change.scene_cut = cut;
    return reader.read(frame, change, knobs);
  }
  ReadResult read(int ms, std::vector<core::Rect> changed = {}, bool cut = false) {
    auto result = try_read(at(ms), std::move(changed), cut);
    EXPECT_TRUE(result.ok());
    return result ? *result : ReadResult{};
  }

  Screen screen;
  core::Knobs knobs;
  TextReader reader;

 private:
  core::Pixels pixels_;
};

TEST_F(Reading, TheFirstPictureIsReadWholeWithoutAnyChangeGiven) {
  screen.lines = {{"SECOND", {100, 300, 200, 30}}, {"FIRST", {100, 100, 200, 30}}};
  const auto result = read(0);
  ASSERT_EQ(result.visible.size(), 2U);
  EXPECT_EQ(result.visible[0].line.text, "FIRST");
  EXPECT_EQ(result.events.size(), 2U);
  EXPECT_EQ(result.work.detect_pixels, 1280 * 720);
}

TEST_F(Reading, AnUnchangedPictureCostsNothingAndExtendsTheTracks) {
  screen.lines = {{"ON AIR", {100, 100, 200, 30}}};
  read(0);
  const int detected = screen.detected, recognised = screen.recognised;
  for (int i = 1; i <= 100; ++i) EXPECT_TRUE(read(i * 100).events.empty());
  EXPECT_EQ(screen.detected, detected);
  EXPECT_EQ(screen.recognised, recognised);
  const auto end = reader.finish(at(10'100));
  ASSERT_EQ(end.events.size(), 1U);
  EXPECT_EQ(end.events[0].first, at(0));
  EXPECT_EQ(end.events[0].last, at(10'100));
}

TEST_F(Reading, OnlyTheChangedLineIsReadAgain) {
  screen.lines = {{"TEMP 73.5 C", {84, 137, 290, 34}}, {"FLOW 118", {84, 245, 300, 34}}};
  read(0);
  const int recognised = screen.recognised;
  const std::int64_t pixels = screen.pixels;
  screen.lines[0].text = "TEMP 74.1 C";
  const auto result = read(100, {{240, 140, 40, 20}});
  EXPECT_EQ(screen.recognised, recognised + 1);
  EXPECT_LT(screen.pixels - pixels, 1280 * 720 / 4);
  ASSERT_EQ(result.events.size(), 2U);
  EXPECT_TRUE(result.events[0].ended);
  EXPECT_EQ(result.events[0].last, at(0));
  EXPECT_EQ(result.events[1].line.text, "TEMP 74.1 C");
  EXPECT_EQ(result.events[1].first, at(100));
  ASSERT_EQ(result.visible.size(), 2U);
  EXPECT_EQ(result.visible[1].last, at(100)) << "the other line lives on";
}

TEST_F(Reading, AChangeBesideTextDoesNotReadIt) {
  screen.lines = {{"PUMP 1", {800, 270, 110, 20}}};
  read(0);
  const int recognised = screen.recognised;
  EXPECT_TRUE(read(100, {{830, 150, 60, 60}}).events.empty());
  EXPECT_EQ(screen.recognised, recognised);
}

TEST_F(Reading, ALineThatReachesFarOutOfTheChangeIsReadWhole) {
  read(0);
  screen.lines = {{"A LONG SIGN OF WHICH THE MIDDLE WAS SEEN TO CHANGE", {60, 600, 1100, 34}}};
  const auto result = read(100, {{560, 605, 30, 20}});
  ASSERT_EQ(result.visible.size(), 1U);
  EXPECT_EQ(result.visible[0].line.text, screen.lines[0].text);
}

TEST_F(Reading, DisappearedTextEndsOnePictureLaterWithTheRightTime) {
  screen.lines = {{"WARNING", {100, 600, 300, 34}}};
  read(0);
  read(100);
  screen.lines.clear();
  EXPECT_TRUE(read(200, {{100, 600, 300, 34}}).events.empty());
  const auto result = read(300);
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_TRUE(result.events[0].ended);
  EXPECT_EQ(result.events[0].last, at(100));
}

TEST_F(Reading, ASceneCutReadsTheWholePicture) {
  screen.lines = {{"OLD", {100, 100, 200, 30}}};
  read(0);
  screen.lines = {{"NEW", {700, 500, 200, 30}}};
  const auto result = read(100, {}, true);
  EXPECT_EQ(result.work.detect_pixels, 1280 * 720);
  EXPECT_EQ(result.events.size(), 1U);
  EXPECT_EQ(read(200).events.size(), 1U);  // OLD has ended
}

TEST_F(Reading, TheIntervalHoldsReadingBackButLosesNoChange) {
  knobs.read_interval_min = core::MediaDuration::from_ms(1000);
  screen.lines = {{"COUNT 1", {100, 100, 200, 30}}};
  read(0);
  const int detected = screen.detected;
  screen.lines[0].text = "COUNT 2";
  read(300, {{100, 100, 200, 30}});
  for (int ms = 400; ms < 1000; ms += 100) EXPECT_TRUE(read(ms).events.empty());
  EXPECT_EQ(screen.detected, detected);
  const auto result = read(1000);
  ASSERT_EQ(result.events.size(), 2U);
  EXPECT_EQ(result.events[0].line.text, "COUNT 1");
  EXPECT_EQ(result.events[0].last, at(0)) << "last certain at the picture before the change";
  EXPECT_EQ(result.events[1].line.text, "COUNT 2");
  EXPECT_EQ(result.events[1].first, at(300)) << "dated back to the change";
}

TEST_F(Reading, ANewEpochEndsTheTracksAndStartsAnew) {
  screen.lines = {{"LOOP", {100, 100, 200, 30}}};
  read(5000);
  const auto result = try_read(at(5100, 1), {});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->events.size(), 2U);
  EXPECT_TRUE(result->events[0].ended);
  EXPECT_EQ(result->events[0].last, at(5000));
  EXPECT_EQ(result->events[1].first, at(5100, 1));
}

TEST_F(Reading, AnotherPictureSizeStartsAnew) {
  screen.lines = {{"SIZE", {10, 10, 100, 30}}};
  read(0);
  resize(640, 360);
  const auto result = read(100);
  EXPECT_EQ(result.work.detect_pixels, 640 * 360);
  EXPECT_EQ(result.events.size(), 2U);
}

TEST_F(Reading, AfterAFaultTheSamePlacesAreLookedAtAgain) {
  read(0);
  screen.lines = {{"GATE B12", {100, 100, 200, 30}}};
  screen.failures = 1;
  EXPECT_FALSE(try_read(at(100), {{100, 100, 200, 30}}).ok());
  const auto result = read(200);
  ASSERT_EQ(result.visible.size(), 1U);
  EXPECT_EQ(result.visible[0].first, at(100));
}

TEST_F(Reading, SoundOrATimelessPictureIsRefused) {
  ingest::Frame frame;
  frame.time = at(0);
  frame.payload = ingest::Sound{};
  const auto sound = reader.read(frame, ChangeMap{}, knobs);
  ASSERT_FALSE(sound.ok());
  EXPECT_EQ(sound.error().code, core::ErrorCode::kUsage);
  EXPECT_FALSE(try_read(core::MediaTime::unset(), {}).ok());
}

TEST_F(Reading, ChangesOutsideThePictureAreHarmless) {
  read(0);
  EXPECT_TRUE(read(100, {{5000, 5000, 10, 10}, {-50, -50, 10, 10}, {0, 0, 0, 0}}).events.empty());
}

TEST_F(Reading, LooksAtAsManyPixelsAsTheKnobsSay) {
  read(0);
  EXPECT_EQ(screen.pixels_max, core::limits::kReadPixels);
  knobs.read_pixels_max = core::limits::kReadPixelsStill;
  read(100, {{0, 0, 64, 64}});
  EXPECT_EQ(screen.pixels_max, core::limits::kReadPixelsStill);
  knobs.read_pixels_max = core::limits::kReadPixelsStill + 1;
  const auto refused = try_read(at(200), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, core::ErrorCode::kUsage);
}

TEST_F(Reading, StillPicturesLeaveTheTracksAlone) {
  screen.lines = {{"STILL", {100, 100, 200, 30}}};
  read(0);
  const std::vector<std::uint8_t> other(64 * 64 * 3);
  const core::PixelView view{other.data(), 64, 64, 64 * 3};
  screen.base = other.data();
  const auto lines = reader.read_still(view);
  ASSERT_TRUE(lines.ok());
  EXPECT_TRUE(lines->empty());
  EXPECT_EQ(screen.pixels_max, core::limits::kReadPixelsStill);
  EXPECT_TRUE(reader.read_still(core::PixelView{})->empty());
  EXPECT_EQ(read(100).visible.size(), 1U);
}

}  // namespace
}  // namespace saccade::perceive
