#include "attend/context_lines.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace saccade::attend {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::string quoted(std::string_view label, std::string_view text) {
  if (text.size() > core::limits::kTextLineBytesMax) {
    std::size_t end = core::limits::kTextLineBytesMax;
    while (end > 0 && is_continuation(text[end])) --end;
    text = text.substr(0, end);
  }
  std::string line(label);
  line += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  line += "\"\n";
  return line;
}

}  // namespace

std::string screen_line(std::string_view text) { return quoted("Text on screen: ", text); }
std::string heard_line(std::string_view text) { return quoted("Heard: ", text); }

std::vector<std::string> newest_lines(std::vector<ContextLine> lines, std::size_t lines_max) {
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > lines_max) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lines[a].since < lines[b].since; });
    order.erase(order.begin(), order.end() - static_cast<std::ptrdiff_t>(lines_max));
    std::sort(order.begin(), order.end());
  }
  std::vector<std::string> out;
  out.reserve(order.size());
  for (const std::size_t i : order) out.push_back(std::move(lines[i].text));
  return out;
}

}  // namespace saccade::attend
