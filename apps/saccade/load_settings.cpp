// Files, environment and flags on top of each other.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "read_toml.h"
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

// The texts set_value takes; nothing when their type does not fit the setting.
std::optional<std::vector<std::string>> value_texts(const TomlEntry& entry,
                                                    const SettingInfo& info) {
  using Kind = TomlScalar::Kind;
  const bool list = std::holds_alternative<std::vector<std::string> Settings::*>(info.field);
  const bool text = list || std::holds_alternative<std::string Settings::*>(info.field);
  const bool on_off = std::holds_alternative<bool Settings::*>(info.field);
  const Kind wanted = text ? Kind::kText : on_off ? Kind::kBool : Kind::kNumber;
  if (entry.list && !list) return std::nullopt;
  std::vector<std::string> out;
  for (const TomlScalar& value : entry.values) {
    if (value.kind != wanted) return std::nullopt;
    out.push_back(value.text);
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
  const auto entries = read_toml(text, path);
  if (!entries) return entries.error();
  std::vector<std::string> names;
  for (const SettingInfo& info : settings_table()) names.emplace_back(info.name);
  for (const TomlEntry& entry : *entries) {
    const std::string& name = entry.key;
    const std::string place = path + ":" + std::to_string(entry.line);
    const SettingInfo* info = find_setting(name);
    if (info == nullptr) {
      return unknown(place + ": there is no setting '" + name.substr(0, kNameBytesMax) + "'", name,
                     names);
    }
    const auto values = value_texts(entry, *info);
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
