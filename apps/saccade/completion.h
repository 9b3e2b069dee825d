#pragma once
// Shell completion made from the commands and flags themselves, so it cannot go stale.
#include <string>

#include "core/result.h"

namespace CLI {
class App;
}

namespace saccade::app {

// `shell` is bash, zsh or fish. Errors: kUsage.
core::Result<std::string> completion_script(const CLI::App& app, const std::string& shell);

}  // namespace saccade::app
