#include "terminal.h"

#include <gtest/gtest.h>

#include "print_error.h"

namespace saccade::app {
namespace {

TEST(Terminal, APipeIsPlainUnlessColourIsForced) {
  EXPECT_FALSE(detect_style(-1, {{"TERM", "xterm"}}).tty);
  EXPECT_FALSE(detect_style(-1, {{"TERM", "xterm"}}).color);
  EXPECT_TRUE(detect_style(-1, {{"CLICOLOR_FORCE", "1"}}).color);
  EXPECT_FALSE(detect_style(-1, {{"CLICOLOR_FORCE", "0"}}).color);
  EXPECT_FALSE(detect_style(-1, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}).color);
  EXPECT_EQ(detect_style(-1, {{"COLUMNS", "100000"}}).width, kTerminalWidthMax);
  EXPECT_EQ(detect_style(-1, {{"COLUMNS", "x"}}).width, 80);
}

TEST(Terminal, HostileTextCannotSteerIt) {
  EXPECT_EQ(printable("a\x1B[2Jb"), "ab");
  EXPECT_EQ(printable("a\x1B]0;title\ab\x1B]8;;http://x\x1B\\c"), "abc");
  EXPECT_EQ(printable("a\x1BPq#0\x1B\\b"), "ab");
  EXPECT_EQ(printable("a\x1B"), "a");
  EXPECT_EQ(printable("a\x1B[1;"), "a");
  EXPECT_EQ(printable("a\r\n\tb\x08"), "a b ");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "31mb"),
            "a 31mb");  // C1 CSI
  EXPECT_EQ(printable("x\u202Ey\xFFz"), "x y\uFFFDz");
}

TEST(Terminal, WidthsAreColumns) {
  EXPECT_EQ(display_width("größe"), 5);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("漢字"), 4);
  EXPECT_EQ(display_width("😀"), 2);
}

TEST(Terminal, WrapsAtBlanksAndCutsWhatIsTooLong) {
  EXPECT_EQ(wrap("the quick brown fox", 10), (std::vector<std::string>{"the quick", "brown fox"}));
  EXPECT_EQ(wrap("abcdefghijkl", 5), (std::vector<std::string>{"abcde", "fghij", "kl"}));
  EXPECT_EQ(wrap("", 10), std::vector<std::string>{""});
  EXPECT_EQ(wrap("exactly te next", 10), (std::vector<std::string>{"exactly te", "next"}));
  for (const std::string& line : wrap("漢字漢字漢字 漢字 a漢b", 5))
    EXPECT_LE(display_width(line), 5);
}

TEST(Terminal, ShortensWithAnEllipsis) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("too long", 5), "too …");
  EXPECT_EQ(shortened("漢字漢字", 5), "漢字…");
}

TEST(PrintError, IsOneLineWithTheNextStep) {
  EXPECT_EQ(error_line(core::error(core::ErrorCode::kUsage, "no file\nx.mp4\x1B[31m", "look"), {}),
            "saccade: no file x.mp4 (look)\n");
  EXPECT_EQ(error_line(core::error(core::ErrorCode::kUsage, "bad"), {}), "saccade: bad\n");
}

}  // namespace
}  // namespace saccade::app
