// Text to value and back, with the range of the table.
#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "settings.h"

namespace saccade::app {

namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string number_text(double value) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.begin(), buffer.end(), value).ptr;
  return {buffer.data(), end};
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::vector<std::string> choices_of(const SettingInfo& info) {
  std::vector<std::string> out;
  for (std::string_view rest = info.choices; !rest.empty();) {
    const auto bar = std::min(rest.find('|'), rest.size());
    out.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return out;
}

core::Status refuse(const SettingInfo& info, const std::string& called, const std::string& value,
                    const std::string& need) {
  return core::error(core::ErrorCode::kUsage, called + " is '" + value + "'; " + need,
                     std::string(info.help));
}

template <typename Number>
core::Status set_number(const SettingInfo& info, const std::string& text, const std::string& called,
                        Number& field) {
  Number value{};
  const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size() && !text.empty();
  const bool in_range = why == std::errc() && static_cast<double>(value) >= info.low &&
                        static_cast<double>(value) <= info.high;
  if (!whole || !in_range) return refuse(info, called, text, "allowed is " + range_text(info));
  field = value;
  return {};
}

core::Status check_choice(const SettingInfo& info, const std::string& text,
                          const std::string& called) {
  const auto choices = choices_of(info);
  if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) {
    return {};
  }
  return refuse(info, called, text, "allowed is " + range_text(info));
}

core::Status set_list(const SettingInfo& info, const std::vector<std::string>& values,
                      const std::string& called, std::vector<std::string>& field) {
  std::vector<std::string> items;
  for (const std::string& value : values) {
    // Choices never hold a comma, so "see,hear" is two of them.
    if (info.choices.empty()) {
      items.push_back(value);
      continue;
    }
    for (std::string_view rest = value; !rest.empty();) {
      const auto comma = std::min(rest.find(','), rest.size());
      items.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  if (items.size() > info.items_max) {
    return refuse(info, called, std::to_string(items.size()) + " values",
                  "at most " + std::to_string(info.items_max) + " are allowed");
  }
  for (const std::string& item : items) {
    if (item.empty()) return refuse(info, called, item, "it must not be empty");
    if (core::Status good = check_choice(info, item, called); !good.ok()) return good;
  }
  field = std::move(items);
  return {};
}

}  // namespace

std::string range_text(const SettingInfo& info) {
  if (info.high > info.low) {
    std::string out = number_text(info.low) + ".." + number_text(info.high);
    if (std::holds_alternative<int Settings::*>(info.field)) {
      out = std::to_string(static_cast<long long>(info.low)) + ".." +
            std::to_string(static_cast<long long>(info.high));
    }
    return info.unit.empty() ? out : out + " " + std::string(info.unit);
  }
  if (std::holds_alternative<bool Settings::*>(info.field)) return "true or false";
  const auto choices = choices_of(info);
  std::string out;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    out += i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
    out += choices[i];
  }
  return out;
}

std::string value_text(const SettingInfo& info, const Settings& settings) {
  return std::visit(
      Overloaded{
          [&](bool Settings::*field) { return std::string(settings.*field ? "true" : "false"); },
          [&](int Settings::*field) { return std::to_string(settings.*field); },
          [&](double Settings::*field) { return number_text(settings.*field); },
          [&](std::string Settings::*field) { return quoted(settings.*field); },
          [&](std::vector<std::string> Settings::*field) {
            std::string out = "[";
            for (const std::string& item : settings.*field) {
              out += (out.size() > 1 ? ", " : "") + quoted(item);
            }
            return out + "]";
          }},
      info.field);
}

core::Status set_value(const SettingInfo& info, const std::vector<std::string>& values,
                       const std::string& called, Settings& settings) {
  if (const auto* list = std::get_if<std::vector<std::string> Settings::*>(&info.field)) {
    return set_list(info, values, called, settings.*(*list));
  }
  const std::string text = values.empty() ? std::string() : values.back();
  return std::visit(
      Overloaded{
          [&](bool Settings::*field) -> core::Status {
            if (text == "true" || text == "1") {
              settings.*field = true;
            } else if (text == "false" || text == "0") {
              settings.*field = false;
            } else {
              return refuse(info, called, text, "allowed is true or false");
            }
            return {};
          },
          [&](std::string Settings::*field) -> core::Status {
            if (text.find('\0') != text.npos) {
              return refuse(info, called, text, "it must not hold a zero byte");
            }
            settings.*field = text;
            return check_choice(info, text, called);
          },
          [&](std::vector<std::string> Settings::*) { return core::Status(); },
          [&](auto Settings::*field) { return set_number(info, text, called, settings.*field); }},
      info.field);
}

std::string nearest_name(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = std::min<std::size_t>(3, word.size() / 2 + 1) + 1;
  for (const std::string& candidate : candidates) {
    // Optimal string alignment: insert, delete, replace, swap of neighbours.
    std::vector<std::vector<std::size_t>> d(word.size() + 1,
                                            std::vector<std::size_t>(candidate.size() + 1));
    for (std::size_t i = 0; i <= word.size(); ++i) d[i][0] = i;
    std::iota(d[0].begin(), d[0].end(), 0);
    for (std::size_t i = 1; i <= word.size(); ++i) {
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t same = word[i - 1] == candidate[j - 1] ? 0 : 1;
        d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + same});
        const bool swapped =
            i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1];
        if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
    if (d[word.size()][candidate.size()] < best_distance) {
      best_distance = d[word.size()][candidate.size()];
      best = candidate;
    }
  }
  return best;
}

}  // namespace saccade::app
