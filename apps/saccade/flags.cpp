#include "flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace saccade::app {

namespace {

std::string type_text(const SettingInfo& info) {
  if (std::holds_alternative<int Settings::*>(info.field)) return "N";
  if (std::holds_alternative<double Settings::*>(info.field)) return "X";
  if (!info.choices.empty()) {
    std::string out(info.choices);
    if (std::holds_alternative<std::vector<std::string> Settings::*>(info.field)) {
      std::replace(out.begin(), out.end(), '|', ',');
    }
    return out;
  }
  const bool file = info.group == SettingGroup::kModels || info.name.ends_with("_file") ||
                    info.name == "out" || info.name == "audio";
  return file ? "FILE" : "TEXT";
}

std::string help_text(const SettingInfo& info) {
  std::string out(info.help);
  if (std::holds_alternative<bool Settings::*>(info.field)) return out;
  const std::string usual = value_text(info, Settings{});
  if (info.high > info.low) {
    out += " [" + usual + "; " + range_text(info) + "]";
  } else if (usual != "\"\"" && usual != "[]") {
    out += " [" + usual + "]";
  }
  return out;
}

void add_flag(CLI::App& command, const SettingInfo& info, FlagValues& values) {
  const std::string name(info.name), flag = flag_name(info);
  const std::string group(title_of(info.group));
  if (std::holds_alternative<bool Settings::*>(info.field)) {
    const auto give = [&values, name](const char* value) {
      return [&values, name, value](std::int64_t) { values.given[name] = {value}; };
    };
    command.add_flag_function(flag, give("true"), help_text(info))->group(group);
    command.add_flag_function("--no-" + flag.substr(2), give("false"))->group("");
    return;
  }
  command
      .add_option_function<std::vector<std::string>>(
          flag,
          [&values, name](const std::vector<std::string>& given) { values.given[name] = given; },
          help_text(info))
      ->type_name(type_text(info))
      ->type_size(1)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
}

// The deepest subcommand that was reached.
const CLI::App& called(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : called(*parsed.back());
}

}  // namespace

void add_setting_flags(CLI::App& command, std::initializer_list<SettingGroup> groups,
                       FlagValues& values) {
  for (const SettingInfo& info : settings_table()) {
    if (std::find(groups.begin(), groups.end(), info.group) != groups.end()) {
      add_flag(command, info, values);
    }
  }
  command.add_option("--config", values.config, "Settings file instead of the usual ones")
      ->type_name("FILE")
      ->group("Settings");
}

core::Error explain_parse_error(const CLI::ParseError& error, const CLI::App& app) {
  const CLI::App& command = called(app);
  std::string path = command.get_name();
  for (const CLI::App* up = command.get_parent(); up != nullptr; up = up->get_parent()) {
    path = up->get_name() + " " + path;
  }
  const std::string help = "`" + path + " --help` lists what there is";
  const auto extras = app.remaining(/*recurse=*/true);
  if (extras.empty()) {
    std::string what = error.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    return core::error(core::ErrorCode::kUsage, what, help);
  }
  const std::string word = extras.front().substr(0, 64);
  std::vector<std::string> names;
  if (word.starts_with("-")) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* sub : command.get_subcommands(nullptr)) names.push_back(sub->get_name());
  }
  const std::string flag = word.substr(0, word.find('='));
  const std::string close = nearest_name(flag, names);
  return core::error(core::ErrorCode::kUsage,
                     word.starts_with("-") ? path + " knows no flag " + flag
                                           : path + " does not expect '" + word + "'",
                     close.empty() ? help : "did you mean " + close + "?");
}

}  // namespace saccade::app
