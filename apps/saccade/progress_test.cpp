#include "progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace saccade::app {
namespace {

TEST(Progress, ATerminalGetsABarWithRateAndTimeLeft) {
  std::ostringstream out, err;
  core::ManualClock clock;
  Footer footer(out, err, {true, false, 80});
  Progress progress({"model.gguf", Progress::Unit::kBytes, 100e6, false}, footer, clock);
  progress.update(0);
  clock.advance_us(10'000'000);
  progress.update(50e6);
  const std::string text = err.str();
  EXPECT_NE(text.find("50 %  5.0 MB/s  0:10 left"), std::string::npos) << text;
  EXPECT_NE(text.find("█░"), std::string::npos);
  const auto last_line = text.substr(text.rfind('J') + 1);
  EXPECT_LT(display_width(last_line), 80);
  progress.finish();
  EXPECT_TRUE(err.str().ends_with("\x1B[J"));
  EXPECT_EQ(out.str(), "");
}

TEST(Progress, AResumedJobDoesNotBoast) {
  std::ostringstream out, err;
  core::ManualClock clock;
  Footer footer(out, err, {true, false, 80});
  Progress progress({"m", Progress::Unit::kBytes, 100e6, false}, footer, clock);
  progress.update(90e6);
  clock.advance_us(1'000'000);
  progress.update(91e6);
  EXPECT_NE(err.str().find("1.0 MB/s"), std::string::npos) << err.str();
}

TEST(Progress, APipeGetsALineEveryTenSeconds) {
  std::ostringstream out, err;
  core::ManualClock clock;
  Footer footer(out, err, {});
  Progress progress({"clip.mp4", Progress::Unit::kMediaSeconds, 120, false}, footer, clock);
  for (int i = 1; i <= 25; ++i) {
    clock.advance_us(1'000'000);
    progress.update(i * 2);
  }
  const std::string text = err.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_TRUE(text.starts_with("clip.mp4 17 % (0:20 of 2:00), 1.8 x real time, 0:56 left\n"))
      << text;
}

TEST(Progress, QuietIsQuiet) {
  std::ostringstream out, err;
  core::ManualClock clock;
  Footer footer(out, err, {true, true, 80});
  Progress progress({"m", Progress::Unit::kBytes, 1, true}, footer, clock);
  progress.update(0.5);
  progress.finish();
  EXPECT_EQ(err.str(), "");
}

TEST(Footer, PrintedTextGoesAboveTheRewrittenLines) {
  std::ostringstream both;
  Footer footer(both, both, {true, false, 80});
  footer.set(Footer::Line::kTentative, "words");
  footer.set(Footer::Line::kProgress, "bar");
  footer.print("event\n");
  footer.clear();
  EXPECT_EQ(both.str(), "words\r\x1B[Jwords\nbar\r\x1B[1A\x1B[Jevent\nwords\nbar\r\x1B[1A\x1B[J");
}

}  // namespace
}  // namespace saccade::app
