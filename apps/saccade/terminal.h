#pragma once
// What a terminal needs to know: is it one, does it want colour, how wide is it, how wide is a text
// on it, and which bytes must never reach it.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "environment.h"

namespace saccade::app {

inline constexpr int kTerminalWidthMin = 40, kTerminalWidthMax = 400;

struct TerminalStyle {
  bool tty = false;    // lines may be rewritten in place
  bool color = false;  // SGR sequences are welcome
  int width = 80;      // columns, kTerminalWidthMin..kTerminalWidthMax
};

// `fd` is 1 or 2. NO_COLOR (not empty) wins over CLICOLOR_FORCE (not empty, not 0), which colours
// pipes too; TERM=dumb or unset means no colour and no rewriting.
TerminalStyle detect_style(int fd, const Environment& environment);

// A text around SGR codes, or the bare text. `codes` like "1;32".
std::string painted(std::string_view text, std::string_view codes, const TerminalStyle& style);

// Text that cannot steer a terminal: escape sequences go whole, other controls become blanks, line
// ends too, bytes that are no UTF-8 become U+FFFD.
std::string printable(std::string_view text);

// Columns a printable text takes: 0 for marks and joiners, 2 for wide East Asian and emoji.
int display_width(std::string_view text);

// Lines of at most `width` columns, cut at blanks where possible. At least one line.
std::vector<std::string> wrap(std::string_view text, int width);

// At most `width` columns, with an ellipsis when something had to go.
std::string shortened(std::string_view text, int width);

}  // namespace saccade::app
