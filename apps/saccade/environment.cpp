#include "environment.h"

#include <string_view>

namespace saccade::app {

Environment read_environment(const char* const* variables) {
  Environment out;
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    const std::string_view entry(*variables);
    const auto equals = entry.find('=');
    if (equals != entry.npos) out.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return out;
}

std::string lookup(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

}  // namespace saccade::app
