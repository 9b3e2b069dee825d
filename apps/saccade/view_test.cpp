#include "view.h"

#include <gtest/gtest.h>

#include <sstream>

namespace saccade::app {
namespace {

using emit::Event;
using emit::EventKind;

core::MediaTime at_ms(std::int64_t ms) { return core::MediaTime::from_us(ms * 1000); }

Event caption(std::string text, std::string id = "caption-1") {
  Event event;
  event.kind = EventKind::kCaption;
  event.t0 = event.t1 = at_ms(12'480);
  event.text = std::move(text);
  event.id = std::move(id);
  event.confidence = 0.934;
  event.frame_age_ms = 84;
  return event;
}

Event speech(std::string text, bool final) {
  Event event;
  event.kind = EventKind::kSpeech;
  event.t0 = at_ms(1000);
  event.text = std::move(text);
  event.id = "speech-1";
  event.final = final;
  return event;
}

class ViewTest : public ::testing::Test {
 protected:
  std::string show(const std::vector<Event>& events, TerminalStyle style) {
    std::ostringstream out, err;
    {
      Footer footer(out, err, style);
      LiveView view(footer, style);
      for (const Event& event : events) view.on_event(event);
    }
    shown_err = err.str();
    return out.str();
  }
  const TerminalStyle pipe{};
  const TerminalStyle tty{true, true, 60};
  std::string shown_err;
};

TEST_F(ViewTest, APipeGetsOnePlainLinePerEvent) {
  EXPECT_EQ(
      show({caption("A red lamp and a long text that would never fit into eighty columns "
                    "of an old terminal.")},
           pipe),
      "  0:12.48  see      A red lamp and a long text that would never fit into eighty columns "
      "of an old terminal.  93 % · 84 ms\n");
  EXPECT_EQ(shown_err, "");
}

TEST_F(ViewTest, ATerminalGetsWrappedLinesInItsWidth) {
  const std::string text =
      show({caption("A red lamp, a green lamp and a door that is open now.")}, {true, false, 60});
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(display_width(line), 60);
  EXPECT_EQ(count, 3);
  EXPECT_NE(text.find("\n                    "), std::string::npos);
}

TEST_F(ViewTest, TheEndOfASpanIsNoNews) {
  Event end = caption("A lamp.");
  end.t1 = at_ms(20'000);
  EXPECT_EQ(show({caption("A lamp."), end}, pipe), show({caption("A lamp.")}, pipe));
}

TEST_F(ViewTest, ATextIsShownWhenItAppearsAndWhenItIsReadBetter) {
  Event text;
  text.kind = EventKind::kText;
  text.id = "text-1";
  text.final = false;
  text.text = "PUNP 3";
  Event better = text;
  better.text = "PUMP 3";
  Event gone = better;
  gone.final = true;
  const std::string out = show({text, better, gone}, pipe);
  EXPECT_NE(out.find("PUNP 3"), std::string::npos);
  EXPECT_EQ(out.find("PUMP 3"), out.rfind("PUMP 3"));
}

TEST_F(ViewTest, TentativeSpeechIsRewrittenInPlaceOnATerminalOnly) {
  const std::vector<Event> events = {speech("attention", false), speech("attention valve", false),
                                     speech("Attention, valve four.", true)};
  const std::string out = show(events, tty);
  EXPECT_EQ(out.find("attention valve"), std::string::npos);
  EXPECT_NE(out.find("“Attention, valve four.”"), std::string::npos);
  EXPECT_NE(shown_err.find("attention valve"), std::string::npos);
  EXPECT_NE(shown_err.find("\r\x1B[J"), std::string::npos);
  EXPECT_EQ(show({events[0]}, pipe), "");
  EXPECT_EQ(shown_err, "");
}

TEST_F(ViewTest, SpeechTakenBackLeavesNoLine) {
  EXPECT_EQ(show({speech("attention", false), speech("", true)}, pipe), "");
  EXPECT_EQ(show({speech("attention", false), speech("", true)}, tty).find("“"), std::string::npos);
}

TEST_F(ViewTest, TentativeSpeechKeepsItsNewestWords) {
  show({speech(std::string(40, 'x') + " " + std::string(20, 'y') + " newest", false)}, tty);
  EXPECT_NE(shown_err.find("newest…"), std::string::npos);
  EXPECT_EQ(shown_err.find("xx"), std::string::npos);
}

TEST_F(ViewTest, HostileTextCannotSteerTheTerminal) {
  Event event = caption("red\x1B[2J\x1B]0;owned\x07 lamp\nsecond");
  event.prompt = "p\x1B[31m";
  event.kind = EventKind::kAnswer;
  const std::string out = show({event}, pipe);
  EXPECT_EQ(out.find('\x1B'), std::string::npos);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1);
  EXPECT_NE(out.find("p: red lamp second"), std::string::npos);
}

TEST_F(ViewTest, AlertsDropsAndStatesSayWhatTheyAre) {
  Event alert;
  alert.kind = EventKind::kAlert;
  alert.yes = true;
  alert.text = "Is there a fire?";
  Event drop;
  drop.kind = EventKind::kDrop;
  drop.reason = "busy";
  drop.count = 3;
  Event failed;
  failed.kind = EventKind::kStatus;
  failed.reason = "failed";
  failed.text = "no route";
  const std::string out = show({alert, drop, failed}, pipe);
  EXPECT_NE(out.find("ALERT    Is there a fire?"), std::string::npos);
  EXPECT_NE(out.find("3 frames not served: busy"), std::string::npos);
  EXPECT_NE(out.find("failed   no route"), std::string::npos);
}

TEST_F(ViewTest, TheSummaryGoesToStderr) {
  Event stats;
  stats.kind = EventKind::kStats;
  stats.numbers = {{"frames_seen", 10}, {"dropped_busy", 0}, {"frame_age_p50_ms", 84.25}};
  EXPECT_EQ(show({stats}, pipe), "");
  EXPECT_NE(shown_err.find("frames seen"), std::string::npos);
  EXPECT_NE(shown_err.find("84.2 ms"), std::string::npos);
  EXPECT_EQ(shown_err.find("dropped"), std::string::npos);
}

TEST_F(ViewTest, ClockIsReadable) {
  EXPECT_EQ(clock_text(at_ms(12'480)), "0:12.48");
  EXPECT_EQ(clock_text(at_ms(59'999)), "0:59.99");
  EXPECT_EQ(clock_text(at_ms(3'600'000)), "1:00:00");
  EXPECT_EQ(clock_text(core::MediaTime::unset()), "");
}

}  // namespace
}  // namespace saccade::app
