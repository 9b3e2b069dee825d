#include "emit/cut_stop.h"

#include <gtest/gtest.h>

namespace saccade::emit {
namespace {

StopCutter cutter(std::vector<std::string> stops) {
  auto made = StopCutter::create(std::move(stops));
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

std::string run(std::vector<std::string> stops, const std::vector<std::string>& pieces) {
  StopCutter c = cutter(std::move(stops));
  std::string out;
  for (const std::string& piece : pieces) out += c.push(piece);
  return c.stopped() ? out : out + c.finish();
}

TEST(CutStop, StopStringOverThreeTokensNeverLeaks) {
  StopCutter c = cutter({"\nUser:"});
  EXPECT_EQ(c.push("The lamp is red."), "The lamp is red.");
  EXPECT_EQ(c.push("\nUs"), "");
  EXPECT_FALSE(c.stopped());
  EXPECT_EQ(c.push("er: more"), "");
  EXPECT_TRUE(c.stopped());
  EXPECT_EQ(c.push("after"), "");
}

TEST(CutStop, FalseAlarmIsReleased) {
  StopCutter c = cutter({"\nUser:"});
  EXPECT_EQ(c.push("a\nUs"), "a");
  EXPECT_EQ(c.push("ually"), "\nUsually");
  EXPECT_EQ(c.push("\nUser"), "");
  EXPECT_EQ(c.finish(), "\nUser");
}

TEST(CutStop, TheMatchThatCompletesFirstWins) {
  EXPECT_EQ(run({"xabc", "ab"}, {"1xabc"}), "1x");
  EXPECT_EQ(run({"abc", "c"}, {"1abc"}), "1");  // together: the longest
}

TEST(CutStop, OverlappingBeginningIsFound) { EXPECT_EQ(run({"aab"}, {"aa", "ab"}), "a"); }

TEST(CutStop, CuttingAnywhereGivesTheSameText) {
  const std::string text = "ab abab<e <end ababc";
  const std::vector<std::string> stops = {"ababc", "<end>"};
  const std::string whole = run(stops, {text});
  EXPECT_EQ(whole, "ab abab<e <end ");
  for (std::size_t i = 0; i <= text.size(); ++i) {
    EXPECT_EQ(run(stops, {text.substr(0, i), text.substr(i)}), whole) << i;
  }
}

TEST(CutStop, RefusesWhatIsOutOfRange) {
  EXPECT_FALSE(StopCutter::create({""}).ok());
  EXPECT_FALSE(StopCutter::create({std::string(257, 'x')}).ok());
  EXPECT_FALSE(StopCutter::create({"\xF0\x9F"}).ok());
  EXPECT_FALSE(StopCutter::create(std::vector<std::string>(17, "x")).ok());
}

}  // namespace
}  // namespace saccade::emit
