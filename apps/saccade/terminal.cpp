#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "emit/utf8.h"

namespace saccade::app {

namespace {

struct Span {
  char32_t first, last;
};

template <std::size_t N>
bool within(char32_t c, const std::array<Span, N>& spans) {
  return std::any_of(spans.begin(), spans.end(),
                     [&](const Span& s) { return c >= s.first && c <= s.last; });
}

// The blocks that matter in practice, not the whole Unicode table: a wrong column is ugly, no more.
constexpr std::array<Span, 12> kZeroWidth = {{{0x0300, 0x036F},
                                              {0x0483, 0x0489},
                                              {0x0591, 0x05BD},
                                              {0x0610, 0x061A},
                                              {0x064B, 0x065F},
                                              {0x0E31, 0x0E31},
                                              {0x0E34, 0x0E3A},
                                              {0x1AB0, 0x1AFF},
                                              {0x200B, 0x200F},
                                              {0x20D0, 0x20FF},
                                              {0xFE00, 0xFE0F},
                                              {0xFE20, 0xFE2F}}};
constexpr std::array<Span, 12> kWide = {{{0x1100, 0x115F},
                                         {0x231A, 0x231B},
                                         {0x23E9, 0x23F3},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE4F},
                                         {0xFF00, 0xFF60},
                                         {0xFFE0, 0xFFE6},
                                         {0x1F300, 0x1FAFF},
                                         {0x20000, 0x3FFFD}}};

int column_width(char32_t c) {
  if (c < 0x300) return 1;
  if (within(c, kZeroWidth)) return 0;
  return within(c, kWide) ? 2 : 1;
}

// Behind the escape sequence that begins at `at` (text[at] is ESC or the C1 CSI's second byte).
std::size_t skip_escape(std::string_view text, std::size_t at) {
  if (++at >= text.size()) return at;
  const char kind = text[at];
  if (kind == '[') {  // CSI: up to a final byte
    for (++at; at < text.size(); ++at) {
      if (text[at] >= 0x40 && text[at] <= 0x7E) return at + 1;
      if (static_cast<unsigned char>(text[at]) < 0x20) return at;
    }
    return at;
  }
  if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_') {
    for (++at; at < text.size(); ++at) {  // strings: up to BEL or ESC backslash
      if (text[at] == '\a') return at + 1;
      if (text[at] == '\x1B') return at + 1 < text.size() && text[at + 1] == '\\' ? at + 2 : at;
    }
    return at;
  }
  return static_cast<unsigned char>(kind) >= 0x20 && static_cast<unsigned char>(kind) < 0x7F
             ? at + 1
             : at;
}

}  // namespace

TerminalStyle detect_style(int fd, const Environment& environment) {
  TerminalStyle style;
  const std::string term = lookup(environment, "TERM");
  const bool able = !term.empty() && term != "dumb";
  style.tty = able && ::isatty(fd) != 0;
  const std::string force = lookup(environment, "CLICOLOR_FORCE");
  style.color = style.tty || (!force.empty() && force != "0");
  if (!lookup(environment, "NO_COLOR").empty()) style.color = false;
  const std::string told = lookup(environment, "COLUMNS");
  int columns = 0;
  std::from_chars(told.data(), told.data() + told.size(), columns);
  winsize size{};
  if (style.tty && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) columns = size.ws_col;
  if (columns > 0) style.width = std::clamp(columns, kTerminalWidthMin, kTerminalWidthMax);
  return style;
}

std::string painted(std::string_view text, std::string_view codes, const TerminalStyle& style) {
  if (!style.color || codes.empty() || text.empty()) return std::string(text);
  return "\x1B[" + std::string(codes) + "m" + std::string(text) + "\x1B[0m";
}

std::string printable(std::string_view raw) {
  const std::string text = emit::repair_utf8(raw);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1B') {
      at = skip_escape(text, at);
      continue;
    }
    const std::size_t start = at;
    const char32_t c = emit::next_code_point(text, at);
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
                         (c >= 0x2066 && c <= 0x2069);
    if (control) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out.append(text, start, at - start);
    }
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();)
    width += column_width(emit::next_code_point(text, at));
  return width;
}

std::vector<std::string> wrap(std::string_view text, int width) {
  width = std::max(width, 4);
  std::vector<std::string> lines;
  std::string line;
  int used = 0;
  std::size_t break_at = 0;  // bytes of `line` up to and without the last blank
  bool can_break = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const char32_t c = emit::next_code_point(text, at);
    const int columns = column_width(c);
    if (used + columns > width) {
      std::string rest;
      if (c != ' ' && can_break) {
        rest = line.substr(break_at + 1);
        line.resize(break_at);
      }
      lines.push_back(std::move(line));
      line = std::move(rest);
      used = display_width(line);
      can_break = false;
      if (c == ' ') continue;
    }
    if (c == ' ' && line.empty() && !lines.empty()) continue;
    if (c == ' ') {
      break_at = line.size();
      can_break = true;
    }
    line.append(text, start, at - start);
    used += columns;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string shortened(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  int used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    used += column_width(emit::next_code_point(text, at));
    if (used > width - 1) return std::string(text.substr(0, start)) + "…";
  }
  return std::string(text);
}

}  // namespace saccade::app
