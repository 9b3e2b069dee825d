// Files, environment and flags on top of each other.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "settings.h"

namespace saccade::app {

namespace {

using core::ErrorCode;

constexpr std::size_t kNameBytesMax = 64;
constexpr std::string_view kPrefix = "SACCADE_";
// Read elsewhere; no settings.
constexpr std::array<std::string_view, 1> kOtherVariables = {"SACCADE_MODELS_DIR"};

core::Error unknown(const std::string& what, std::string_view name,
                    const std::vector<std::string>& candidates) {
  const std::string close = nearest_name(name.substr(0, kNameBytesMax), candidates);
  return core::error(ErrorCode::kUsage, what,
                     close.empty() ? "`saccade config sample` lists every setting"
                                   : "did you mean " + close + "?");
}

// A TOML value as the text set_value takes; nothing when its type does not fit the setting.
std::optional<std::string> scalar_text(const toml::node& node, const SettingInfo& info) {
  const bool text_field = std::holds_alternative<std::string Settings::*>(info.field) ||
                          std::holds_alternative<std::vector<std::string> Settings::*>(info.field);
  const bool bool_field = std::holds_alternative<bool Settings::*>(info.field);
  if (node.is_string() && text_field) return node.ref<std::string>();
  if (node.is_boolean() && bool_field) return node.ref<bool>() ? "true" : "false";
  if (text_field || bool_field) return std::nullopt;
  if (node.is_integer()) return std::to_string(node.ref<std::int64_t>());
  if (node.is_floating_point()) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(17);
    out << node.ref<double>();
    return out.str();
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> value_texts(const toml::node& node,
                                                    const SettingInfo& info) {
  std::vector<std::string> out;
  const toml::array* list = node.as_array();
  if (list == nullptr) {
    auto text = scalar_text(node, info);
    if (!text) return std::nullopt;
    out.push_back(std::move(*text));
    return out;
  }
  if (!std::holds_alternative<std::vector<std::string> Settings::*>(info.field)) {
    return std::nullopt;
  }
  for (const toml::node& item : *list) {
    auto text = scalar_text(item, info);
    if (!text) return std::nullopt;
    out.push_back(std::move(*text));
  }
  return out;
}

std::string_view type_needed(const SettingInfo& info) {
  if (std::holds_alternative<bool Settings::*>(info.field)) return "true or false";
  if (std::holds_alternative<std::string Settings::*>(info.field)) return "a \"text\"";
  if (std::holds_alternative<std::vector<std::string> Settings::*>(info.field)) {
    return "a list of \"texts\"";
  }
  return "a number";
}

// The line of the first non-ASCII character outside strings and comments; 0 when there is none.
// TOML has no place for one, and toml++ 3.3 runs into undefined behaviour on some of them (U+02B3).
std::size_t stray_character_line(std::string_view text) {
  std::size_t line = 1;
  std::string_view quote;  // of the string we are in; "#" in a comment
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    if (c == '\n') ++line;
    if (quote.empty()) {
      if (static_cast<unsigned char>(c) >= 0x80) return line;
      if (c == '#') quote = "#";
      if (c == '"') quote = rest.starts_with("\"\"\"") ? "\"\"\"" : "\"";
      if (c == '\'') quote = rest.starts_with("'''") ? "'''" : "'";
      at += quote.size() > 1 ? 2 : 0;
    } else if (c == '\n' && quote.size() == 1) {
      quote = {};
    } else if (c == '\\' && quote.front() == '"') {
      // What is escaped ends nothing; an escaped line end is seen on the next turn.
      if (at + 1 < text.size() && text[at + 1] != '\n') ++at;
    } else if (quote != "#" && rest.starts_with(quote)) {
      at += quote.size() - 1;
      quote = {};
    }
  }
  return 0;
}

core::Status apply_file(const std::string& path, bool must_exist, LoadedSettings& loaded) {
  std::error_code why;
  const bool there = std::filesystem::exists(path, why);
  if (!there && !must_exist) return {};
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path, why)) {
    return core::error(ErrorCode::kUsage,
                       "cannot read the settings file " + path + ": " +
                           (there ? std::strerror(errno) : "no such file"),
                       "`saccade config sample > saccade.toml` makes one");
  }
  std::string text(kConfigBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return apply_toml(text, path, loaded);
}

core::Status apply_environment(const Environment& environment, LoadedSettings& loaded) {
  std::vector<std::string> names(kOtherVariables.begin(), kOtherVariables.end());
  std::map<std::string, const SettingInfo*> known;
  for (const SettingInfo& info : settings_table()) {
    names.push_back(environment_name(info));
    known.emplace(names.back(), &info);
  }
  for (auto at = environment.lower_bound(std::string(kPrefix));
       at != environment.end() && at->first.starts_with(kPrefix); ++at) {
    const auto& [name, value] = *at;
    const auto found = known.find(name);
    if (found == known.end()) {
      if (std::find(kOtherVariables.begin(), kOtherVariables.end(), name) !=
          kOtherVariables.end()) {
        continue;
      }
      return unknown("the environment variable " + name + " sets nothing", name, names);
    }
    // A list has one item per line.
    std::vector<std::string> lines;
    std::istringstream in(value);
    for (std::string line; std::getline(in, line);) {
      if (!line.empty()) lines.push_back(line);
    }
    const bool list =
        std::holds_alternative<std::vector<std::string> Settings::*>(found->second->field);
    if (core::Status set =
            set_value(*found->second, list ? lines : std::vector{value}, name, loaded.settings);
        !set.ok()) {
      return set;
    }
    loaded.origin[std::string(found->second->name)] = name;
  }
  return {};
}

std::vector<std::string> usual_files(const Environment& environment) {
  std::vector<std::string> out = {"/etc/saccade/config.toml"};
  std::string home = lookup(environment, "XDG_CONFIG_HOME");
  if (home.empty() && !lookup(environment, "HOME").empty()) {
    home = lookup(environment, "HOME") + "/.config";
  }
  if (!home.empty()) out.push_back(home + "/saccade/config.toml");
  out.emplace_back("saccade.toml");
  return out;
}

}  // namespace

core::Status apply_toml(std::string_view text, const std::string& path, LoadedSettings& loaded) {
  if (text.size() > kConfigBytesMax) {
    return core::error(ErrorCode::kUsage,
                       path + " has more than " + std::to_string(kConfigBytesMax) + " bytes",
                       "`saccade config sample` shows what belongs into it");
  }
  if (const std::size_t line = stray_character_line(text); line > 0) {
    return core::error(ErrorCode::kUsage,
                       path + ":" + std::to_string(line) + ": a letter that is not plain ASCII",
                       "put texts in \"quotes\"");
  }
  const toml::parse_result parsed = toml::parse(text, path);
  if (parsed.failed()) {
    return core::error(ErrorCode::kUsage,
                       path + ":" + std::to_string(parsed.error().source().begin.line) + ": " +
                           std::string(parsed.error().description()),
                       "settings are lines like: fps = 5");
  }
  std::vector<std::string> names;
  for (const SettingInfo& info : settings_table()) names.emplace_back(info.name);
  for (const auto& [key, node] : parsed.table()) {
    const std::string name(key.str());
    const std::string place = path + ":" + std::to_string(key.source().begin.line);
    const SettingInfo* info = find_setting(name);
    if (info == nullptr) {
      return unknown(place + ": there is no setting '" + name.substr(0, kNameBytesMax) + "'", name,
                     names);
    }
    const auto values = value_texts(node, *info);
    if (!values) {
      return core::error(ErrorCode::kUsage,
                         place + ": " + name + " needs " + std::string(type_needed(*info)),
                         std::string(info->help));
    }
    if (core::Status set = set_value(*info, *values, name + " (" + place + ")", loaded.settings);
        !set.ok()) {
      return set;
    }
    loaded.origin[name] = place;
  }
  return {};
}

core::Result<LoadedSettings> load_settings(const FlagValues& flags,
                                           const Environment& environment) {
  LoadedSettings loaded;
  const bool one_file = !flags.config.empty();
  const auto files = one_file ? std::vector{flags.config} : usual_files(environment);
  for (const std::string& path : files) {
    if (core::Status read = apply_file(path, one_file, loaded); !read.ok()) return read.error();
  }
  if (core::Status read = apply_environment(environment, loaded); !read.ok()) return read.error();
  for (const auto& [name, values] : flags.given) {
    const SettingInfo* info = find_setting(name);
    if (info == nullptr) return core::error(ErrorCode::kInternal, "no setting '" + name + "'");
    const std::string called = flag_name(*info);
    if (core::Status set = set_value(*info, values, called, loaded.settings); !set.ok()) {
      return set.error();
    }
    loaded.origin[name] = called;
  }
  return loaded;
}

}  // namespace saccade::app
