// The table as text for people: the sample file and `config show`.
#include <algorithm>

#include "settings.h"

namespace saccade::app {

namespace {

// Comment lines of at most 96 columns.
std::string comment(const std::string& text) {
  std::string out, line = "#";
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (line.size() + 1 + word.size() > 96) {
      out += line + "\n";
      line = "#";
    }
    line += " " + word;
    at = end + 1;
  }
  return out + line + "\n";
}

}  // namespace

std::string sample_config() {
  std::string out =
      comment("Settings of Saccade. Every line is commented out and shows the default.") +
      comment(
          "A flag (--slo-ms) beats an environment variable (SACCADE_SLO_MS), which beats "
          "./saccade.toml, then ~/.config/saccade/config.toml, then /etc/saccade/config.toml.");
  SettingGroup group{};
  bool first = true;
  for (const SettingInfo& info : settings_table()) {
    if (first || info.group != group) {
      out += "\n# == " + std::string(title_of(info.group)) + " ==\n";
    }
    first = false;
    group = info.group;
    std::string help = std::string(info.help) + ".";
    if (const std::string range = range_text(info); !range.empty())
      help += " Allowed: " + range + ".";
    out += "\n" + comment(help) + "#" + std::string(info.name) + " = " +
           value_text(info, Settings{}) + "\n";
  }
  return out;
}

std::string show_config(const LoadedSettings& loaded, bool origins) {
  std::string out;
  for (const SettingInfo& info : settings_table()) {
    std::string line = std::string(info.name) + " = " + value_text(info, loaded.settings);
    if (origins) {
      const auto found = loaded.origin.find(std::string(info.name));
      line.resize(std::max<std::size_t>(line.size(), 36), ' ');
      line += "  # " + (found == loaded.origin.end() ? std::string("default") : found->second);
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace saccade::app
