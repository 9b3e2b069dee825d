#include "print_error.h"

namespace saccade::app {

std::string error_line(const core::Error& error, const TerminalStyle& style) {
  std::string out = painted("saccade: ", "1;31", style) + printable(error.message);
  if (!error.hint.empty()) out += painted(" (" + printable(error.hint) + ")", "2", style);
  return out + "\n";
}

}  // namespace saccade::app
