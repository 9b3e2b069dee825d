#include "decode/match_stop.h"

#include <gtest/gtest.h>

#include "core/limits.h"
#include "core/rng.h"

namespace saccade::decode {
namespace {

StopMatcher matcher(std::vector<std::string> stops) {
  auto out = StopMatcher::create(std::move(stops));
  EXPECT_TRUE(out.ok());
  return std::move(out).value();
}

TEST(StopMatcherTest, FindsAStringThatComesInPieces) {
  auto m = matcher({"END"});
  EXPECT_FALSE(m.push("the E"));
  EXPECT_FALSE(m.push("N"));
  EXPECT_TRUE(m.push("D of it"));
  EXPECT_TRUE(m.push("more"));
}

TEST(StopMatcherTest, AFalseStartDoesNotHideTheRealOne) {
  auto m = matcher({"aab"});
  EXPECT_FALSE(m.push("a"));
  EXPECT_FALSE(m.push("a"));
  EXPECT_FALSE(m.push("a"));
  EXPECT_TRUE(m.push("b"));
}

TEST(StopMatcherTest, WithoutStringsItNeverMatches) {
  StopMatcher m;
  EXPECT_FALSE(m.push("anything"));
}

// However the text is cut, the verdict is that of the whole text.
TEST(StopMatcherTest, AnyCutGivesTheSameVerdict) {
  core::Rng rng(5);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (auto n = rng.between(0, 30); n > 0; --n)
      text += static_cast<char>('a' + rng.between(0, 2));
    const std::vector<std::string> stops{"abca", "cc", "b"};
    const std::vector<std::string> used(stops.begin(), stops.begin() + rng.between(1, 2));
    bool expected = false;
    for (const auto& stop : used) expected = expected || text.find(stop) != std::string::npos;
    auto m = matcher(used);
    bool matched = false;
    for (std::size_t i = 0; i < text.size();) {
      const auto n = static_cast<std::size_t>(rng.between(1, 4));
      matched = m.push(std::string_view(text).substr(i, n));
      i += n;
    }
    ASSERT_EQ(matched, expected) << text;
  }
}

TEST(StopMatcherTest, RefusesWhatIsOutOfRange) {
  EXPECT_FALSE(StopMatcher::create({""}).ok());
  EXPECT_FALSE(StopMatcher::create({std::string(core::limits::kStopStringBytesMax + 1, 'x')}).ok());
  EXPECT_FALSE(
      StopMatcher::create(std::vector<std::string>(core::limits::kStopStringsMax + 1, "x")).ok());
}

}  // namespace
}  // namespace saccade::decode
