#pragma once
// How the program says that something went wrong: one line, what and the next step.
#include <string>

#include "core/result.h"
#include "terminal.h"

namespace saccade::app {

// "saccade: <what> (<hint>)\n"; safe for a terminal whatever the message holds.
std::string error_line(const core::Error& error, const TerminalStyle& style);

}  // namespace saccade::app
