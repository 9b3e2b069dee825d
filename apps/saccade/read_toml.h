#pragma once
// The part of TOML 1.0 that settings need: `key = value` with texts (all four kinds of quotes),
// whole and decimal numbers, true/false, and lists of these. Tables, dotted keys, dates and numbers
// in other bases are refused by name. Not toml++: its 3.3 in Debian 12 trips over malformed input
// (an assertion, or undefined behaviour without assertions, on "[{A" and "a = [[}"; found by
// fuzzing).
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace saccade::app {

struct TomlScalar {
  enum class Kind { kText, kNumber, kBool };
  Kind kind = Kind::kText;
  std::string text;  // of numbers and bools as written, without '_' and '+'
};

struct TomlEntry {
  std::string key;
  std::size_t line = 1;
  bool list = false;
  std::vector<TomlScalar> values;  // one, unless it is a list
};

// Entries in order of the file, no key twice. Errors: kUsage, "PATH:LINE: what".
core::Result<std::vector<TomlEntry>> read_toml(std::string_view text, const std::string& path);

}  // namespace saccade::app
