#pragma once
// Everything a user can set, in one table. From it come the flags (flags.h), the names of the
// environment variables, the keys of the TOML files, the commented sample file and `config show`.
// Precedence: flag > SACCADE_* > ./saccade.toml > $XDG_CONFIG_HOME/saccade/config.toml >
// /etc/saccade/config.toml > default. `--config FILE` takes the place of the three files.
// A value out of range or an unknown name is an error, never corrected.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"
#include "environment.h"

namespace saccade::app {

inline constexpr std::size_t kConfigBytesMax = 1 << 20;

// Defaults are here, and only here.
struct Settings {
  // source
  double fps = 5;
  bool realtime = false;
  bool loop = false;
  bool rtsp_udp = false;
  double connect_timeout_s = 30;
  std::string tls_ca;
  bool tls_insecure = false;
  std::string audio;
  double duration_s = 0;
  std::vector<std::string> senses{"see", "read", "hear"};
  // questions
  std::vector<std::string> prompt;
  std::vector<std::string> alert;
  std::string context_lines = "auto";
  int max_new_tokens = 64;
  double temperature = 0;
  double top_p = 1;
  int seed = 0;
  std::vector<std::string> stop;
  std::string filter_words_file;
  // pace
  int slo_ms = 0;
  std::string policy = "auto";
  std::string policies;
  int change_threshold = 12;
  double refresh_s = 30;
  double keep_share = 1;
  // models
  std::string model;
  std::string mmproj;
  std::string speech_model;
  std::string vad_model;
  std::string ocr_det;
  std::string ocr_rec;
  std::string engine = "auto";
  int context_tokens = 0;
  int threads = 0;
  // server
  std::string host = "127.0.0.1";
  int port = 8770;
  std::string admin_listen;
  std::string api_key_file;
  std::vector<std::string> allow_host;
  std::vector<std::string> allow_origin;
  std::vector<std::string> allow_source;
  std::string media_path;
  std::string alias;
  int queue_max = 32;
  int parallel = 2;
  int streams_max = 8;
  // output
  bool json = false;
  std::string out;
  bool quiet = false;
  bool verbose = false;
};

enum class SettingGroup { kSource, kQuestions, kPace, kModels, kServer, kOutput };
std::string_view title_of(SettingGroup group);

using SettingField = std::variant<bool Settings::*, int Settings::*, double Settings::*,
                                  std::string Settings::*, std::vector<std::string> Settings::*>;

// One row. `low`..`high` bound numbers; `choices` (separated by '|') bound texts and list items;
// `items_max` bounds lists.
struct SettingInfo {
  std::string_view name;  // snake_case: TOML key; --with-dashes; SACCADE_UPPER_CASE
  SettingField field;
  SettingGroup group;
  std::string_view help;  // one sentence
  std::string_view unit = "";
  double low = 0, high = 0;
  std::string_view choices = "";
  std::size_t items_max = 16;
};
std::span<const SettingInfo> settings_table();
const SettingInfo* find_setting(std::string_view name);

std::string flag_name(const SettingInfo& info);         // "--slo-ms"
std::string environment_name(const SettingInfo& info);  // "SACCADE_SLO_MS"
// "0..240 pictures per second", "see, read or hear"; empty when anything goes.
std::string range_text(const SettingInfo& info);
// As it would stand in a TOML file.
std::string value_text(const SettingInfo& info, const Settings& settings);

// Sets one field from text; lists take all `values`, everything else the last. `called` names the
// setting in errors. Errors: kUsage (name, value, range).
core::Status set_value(const SettingInfo& info, const std::vector<std::string>& values,
                       const std::string& called, Settings& settings);

// Values by setting name, as they stood on the command line.
struct FlagValues {
  std::map<std::string, std::vector<std::string>> given;
  std::string config;  // --config FILE; empty = the usual files
};

struct LoadedSettings {
  Settings settings;
  std::map<std::string, std::string>
      origin;  // by name: "--fps", "SACCADE_FPS", "FILE:12"; else default
};
// Errors: kUsage. A file that does not exist is skipped, except `--config`.
core::Result<LoadedSettings> load_settings(const FlagValues& flags, const Environment& environment);

// Adds what one TOML text sets (for tests and fuzzing too). `path` is for messages.
core::Status apply_toml(std::string_view text, const std::string& path, LoadedSettings& loaded);

// A commented file with every setting at its default.
std::string sample_config();
// Settings in force, as TOML; with `origins` each line says where it comes from.
std::string show_config(const LoadedSettings& loaded, bool origins);

// The candidate closest to `word` by typing mistakes; empty when none is close.
std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

}  // namespace saccade::app
