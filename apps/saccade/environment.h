#pragma once
// The process environment as a value: read once in main, handed in everywhere else.
#include <map>
#include <string>

namespace saccade::app {

using Environment = std::map<std::string, std::string>;

// `environ` of the process.
Environment read_environment(const char* const* variables);

// Empty when absent.
std::string lookup(const Environment& environment, const std::string& name);

}  // namespace saccade::app
