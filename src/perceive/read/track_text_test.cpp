#include "perceive/read/track_text.h"

#include <gtest/gtest.h>

#include "core/limits.h"

namespace saccade::perceive {
namespace {

core::MediaTime at(std::int64_t ms) { return core::MediaTime::from_us(ms * 1000); }

LineReading line(const std::string& text, float x, float y, float probability = 0.97F) {
  LineReading reading;
  for (const char c : text) {
    reading.characters.push_back(ReadCharacter{std::string(1, c), probability});
  }
  const float width = 16.0F * static_cast<float>(text.size());
  reading.box = Quad{{{x, y}, {x + width, y}, {x + width, y + 30}, {x, y + 30}}};
  reading.confidence = probability;
  return reading;
}

constexpr core::Rect kEverywhere{0, 0, 1280, 720};

// A look at the whole picture.
Sighting whole(std::int64_t ms, std::vector<LineReading> lines) {
  return Sighting{at(ms), std::move(lines), {DatedArea{kEverywhere, at(ms)}}};
}

class TextTracking : public ::testing::Test {
 protected:
  TextTracker tracker{0.5F};
};

TEST_F(TextTracking, AStillCaptionIsOneTrackWithASpan) {
  tracker.observe(whole(0, {line("ON AIR", 40, 40)}));
  auto events = tracker.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].line.text, "ON AIR");
  EXPECT_FALSE(events[0].ended);
  for (int i = 1; i <= 50; ++i) {
    tracker.extend(at(i * 100), {});
    EXPECT_TRUE(tracker.take_events().empty());
  }
  tracker.finish(at(5100));
  events = tracker.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(events[0].ended);
  EXPECT_EQ(events[0].first, at(0));
  EXPECT_EQ(events[0].last, at(5100));
  EXPECT_TRUE(tracker.take_events().empty()) << "ended tracks are reported once";
}

TEST_F(TextTracking, OtherTextAtTheSamePlaceEndsTheOldAndBeginsANew) {
  tracker.observe(whole(0, {line("TEMP 73.5 C", 84, 130)}));
  tracker.extend(at(100), {});
  tracker.take_events();
  tracker.observe(whole(200, {line("TEMP 74.1 C", 84, 130)}));
  const auto events = tracker.take_events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(events[0].ended);
  EXPECT_EQ(events[0].line.text, "TEMP 73.5 C");
  EXPECT_EQ(events[0].last, at(100));
  EXPECT_EQ(events[1].line.text, "TEMP 74.1 C");
  EXPECT_EQ(events[1].first, at(200));
  EXPECT_NE(events[0].id, events[1].id);
}

TEST_F(TextTracking, ALongerTextOverAShorterOneReplacesItAtOnce) {
  tracker.observe(whole(0, {line("RPM 0", 84, 460)}));
  tracker.take_events();
  tracker.observe(whole(100, {line("RPM 1480 HIGH", 84, 460)}));
  const auto events = tracker.take_events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(events[0].ended);
}

TEST_F(TextTracking, ALineThatGrowsIntoAChangeBesideItIsReplaced) {
  tracker.observe(whole(0, {line("LOAD", 40, 40), line("OTHER", 40, 140)}));
  tracker.take_events();
  const DatedArea beside{{110, 40, 200, 30}, at(100)};
  tracker.observe({at(100), {line("LOAD DONE 42", 40, 40)}, {beside}});
  const auto events = tracker.take_events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(events[0].ended);
  EXPECT_EQ(events[0].line.text, "LOAD");
  EXPECT_EQ(events[0].last, at(0));
  EXPECT_EQ(events[1].line.text, "LOAD DONE 42");
  EXPECT_EQ(events[1].first, at(100));
  EXPECT_EQ(tracker.visible().size(), 2U);
}

TEST_F(TextTracking, OneMissedReadingIsForgiven) {
  tracker.observe(whole(0, {line("WARNING", 40, 40)}));
  tracker.take_events();
  tracker.observe(whole(100, {}));
  EXPECT_TRUE(tracker.take_events().empty());
  EXPECT_EQ(tracker.visible().size(), 1U);
  tracker.observe(whole(200, {line("WARNING", 40, 40)}));
  EXPECT_TRUE(tracker.take_events().empty());
  tracker.finish(at(300));
  EXPECT_EQ(tracker.take_events()[0].first, at(0));
}

TEST_F(TextTracking, MissedTwiceItEndsWhereItWasLastSeen) {
  tracker.observe(whole(0, {line("WARNING", 40, 40)}));
  tracker.extend(at(100), {});
  tracker.take_events();
  tracker.observe(whole(200, {}));
  tracker.observe(whole(300, {}));
  const auto events = tracker.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(events[0].ended);
  EXPECT_EQ(events[0].last, at(100));
  EXPECT_TRUE(tracker.visible().empty());
}

TEST_F(TextTracking, MissedAndThenUnchangedItIsGone) {
  tracker.observe(whole(0, {line("WARNING", 40, 40)}));
  tracker.take_events();
  tracker.observe(whole(100, {}));
  tracker.extend(at(200), {});
  const auto events = tracker.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].last, at(0));
}

TEST_F(TextTracking, AtTheEndAMissedTrackIsNotStretched) {
  tracker.observe(whole(0, {line("WARNING", 40, 40)}));
  tracker.observe(whole(100, {}));
  tracker.finish(at(500));
  const auto events = tracker.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].last, at(0));
}

TEST_F(TextTracking, TracksOutsideTheLookAreNotMissed) {
  tracker.observe(whole(0, {line("LEFT", 40, 40), line("RIGHT", 800, 40)}));
  tracker.take_events();
  for (int i = 1; i < 4; ++i) {
    tracker.observe(Sighting{at(i * 100), {}, {DatedArea{{700, 0, 300, 200}, at(i * 100)}}});
  }
  const auto visible = tracker.visible();
  ASSERT_EQ(visible.size(), 1U);
  EXPECT_EQ(visible[0].line.text, "LEFT");
  EXPECT_EQ(visible[0].last, at(300));
}

TEST_F(TextTracking, ADoubtfulReadingVotesInsteadOfReplacing) {
  tracker.observe(whole(0, {line("PUMP 2", 40, 40)}));
  tracker.take_events();
  tracker.observe(whole(100, {line("PUMP Z", 40, 40, 0.55F)}));
  EXPECT_TRUE(tracker.take_events().empty());
  EXPECT_EQ(tracker.visible()[0].line.text, "PUMP 2");
}

TEST_F(TextTracking, ABetterReadingCorrectsTheSameTrack) {
  tracker.observe(whole(0, {line("PUNP 2", 40, 40, 0.6F)}));
  const auto first = tracker.take_events();
  tracker.observe(whole(100, {line("PUMP 2", 40, 40)}));
  const auto events = tracker.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].id, first[0].id);
  EXPECT_FALSE(events[0].ended);
  EXPECT_EQ(events[0].line.text, "PUMP 2");
}

TEST_F(TextTracking, TextThatMovesStaysOneTrack) {
  for (int i = 0; i < 10; ++i) {
    tracker.observe(whole(i * 100, {line("BREAKING NEWS", 600.0F - 40.0F * i, 680)}));
  }
  const auto visible = tracker.visible();
  ASSERT_EQ(visible.size(), 1U);
  EXPECT_EQ(visible[0].first, at(0));
  EXPECT_NEAR(visible[0].line.box[0][0], 240, 0.5);
}

TEST_F(TextTracking, TwoValuesThatSwapPlacesAreNewTracks) {
  tracker.observe(whole(0, {line("0.0", 40, 40), line("1.0", 40, 75)}));
  tracker.take_events();
  tracker.observe(whole(100, {line("1.0", 40, 40), line("0.0", 40, 75)}));
  EXPECT_EQ(tracker.take_events().size(), 4U);
}

TEST_F(TextTracking, EqualLabelsSideBySideKeepTheirOwnTrack) {
  tracker.observe(whole(0, {line("OK", 40, 40), line("OK", 80, 40)}));
  const auto before = tracker.visible();
  tracker.observe(whole(100, {line("OK", 81, 40), line("OK", 41, 40)}));
  const auto after = tracker.visible();
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[0].id, before[0].id);
  EXPECT_EQ(after[1].id, before[1].id);
}

TEST_F(TextTracking, FaintLinesBeginNoTrack) {
  tracker.observe(whole(0, {line("noise", 40, 40, 0.3F)}));
  EXPECT_TRUE(tracker.take_events().empty());
}

TEST_F(TextTracking, ALateLookIsDatedBackToTheLastChange) {
  tracker.observe(Sighting{at(500), {line("GATE B12", 40, 40)}, {DatedArea{kEverywhere, at(200)}}});
  const auto events = tracker.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].first, at(200));
  EXPECT_EQ(events[0].last, at(500));
}

TEST_F(TextTracking, IsBounded) {
  std::vector<LineReading> lines;
  lines.reserve(400);
  for (int i = 0; i < 400; ++i) {
    const int row = i / 10, column = i % 10;
    lines.push_back(line(std::to_string(i) + "L", static_cast<float>(column) * 120,
                         static_cast<float>(row) * 40));
  }
  tracker.observe(whole(0, lines));
  EXPECT_EQ(tracker.visible().size(), core::limits::kTextLinesMax);
  EXPECT_EQ(tracker.lines_dropped(), 400 - core::limits::kTextLinesMax);
}

}  // namespace
}  // namespace saccade::perceive
