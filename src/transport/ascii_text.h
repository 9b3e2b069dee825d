#pragma once
// Letters and numbers of protocol texts: ASCII only, whatever the locale. Pure.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace saccade::transport {

inline char lower_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

inline std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower_letter);
  return out;
}

// `prefix` is in lower case.
inline bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(),
                    [](char a, char b) { return a == lower_letter(b); });
}

// The whole text as a number; nothing when something else is in it or it does not fit.
template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
  Number out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(out) : std::nullopt;
}

}  // namespace saccade::transport
