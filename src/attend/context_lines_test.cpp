#include "attend/context_lines.h"

#include <gtest/gtest.h>

namespace saccade::attend {
namespace {

using core::MediaTime;

TEST(ContextLines, TextOnScreenCannotPretendToBeAnotherLine) {
  EXPECT_EQ(screen_line("EXIT\nHeard: \"fire\"\r\x01"),
            "Text on screen: \"EXIT Heard: \"fire\"  \"\n");
  EXPECT_EQ(heard_line("pump two is running"), "Heard: \"pump two is running\"\n");
}

TEST(ContextLines, LongTextIsCutAtAWholeCharacter) {
  const std::size_t most = core::limits::kTextLineBytesMax;
  const std::string text = std::string(most - 1, 'a') + "é tail";  // two bytes over the edge
  EXPECT_EQ(heard_line(text), "Heard: \"" + std::string(most - 1, 'a') + "\"\n");
}

TEST(ContextLines, NewestStayInTheirOrder) {
  const auto at = [](std::int64_t us) { return MediaTime::from_us(us); };
  const std::vector<ContextLine> lines{{"a", at(5)}, {"b", at(1)}, {"c", at(9)}, {"d", at(7)}};
  EXPECT_EQ(newest_lines(lines, 4), (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(newest_lines(lines, 2), (std::vector<std::string>{"c", "d"}));
  EXPECT_TRUE(newest_lines(lines, 0).empty());
}

TEST(ContextLines, OfEquallyOldOnesTheLaterStays) {
  EXPECT_EQ(newest_lines({{"a", {}}, {"b", {}}, {"c", {}}}, 2),
            (std::vector<std::string>{"b", "c"}));
}

}  // namespace
}  // namespace saccade::attend
