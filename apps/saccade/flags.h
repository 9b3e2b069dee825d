#pragma once
// The settings table as command-line flags, and CLI11's complaints as errors of ours.
#include <initializer_list>
#include <string>

#include "core/result.h"
#include "settings.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
class ParseError;
}  // namespace CLI

namespace saccade::app {

// Adds the flags of `groups` and `--config` to a command. What is given lands in `values`, which
// must outlive the app. Switches have a hidden --no-... that undoes a file's `true`.
void add_setting_flags(CLI::App& command, std::initializer_list<SettingGroup> groups,
                       FlagValues& values);

// One line for people; an unknown flag names the nearest one of the command that was called.
core::Error explain_parse_error(const CLI::ParseError& error, const CLI::App& app);

}  // namespace saccade::app
