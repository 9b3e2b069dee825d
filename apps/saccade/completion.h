#pragma once
// Shell completion made from the commands and flags themselves, so it cannot go stale.
#include <string>

#include "core/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace saccade::app {

// `shell` is bash, zsh or fish. Errors: kUsage.
core::Result<std::string> completion_script(const CLI::App& app, const std::string& shell);

}  // namespace saccade::app
