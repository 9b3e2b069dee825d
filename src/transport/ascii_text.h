#pragma once
// Letters and numbers of protocol texts: ASCII only, whatever the locale. Pure.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// The entries of a header like "a, b": without blanks around them, empty ones left out.
inline std::vector<std::string_view> list_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    entry.remove_prefix(std::min(entry.size(), entry.find_first_not_of(" \t")));
    entry = entry.substr(0, entry.find_last_not_of(" \t") + 1);
    if (!entry.empty()) out.push_back(entry);
  }
  return out;
}

// Of `name=value&…`; empty when absent.
inline std::string_view query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals) == name && equals != pair.npos) return pair.substr(equals + 1);
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
  }
  return {};
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
