#pragma once
// Ends an answer at a stop string, also when the string comes in pieces.
// Promise: text that could be the beginning of a stop string is held back until it is clear; the
// stop string itself never gets out. The match that completes first wins; of those that complete
// together the longest. Any way of cutting the same text gives the same result.
// Limits: kStopStringsMax strings of kStopStringBytesMax bytes; holds less than the longest one.
// Threads: one.
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace saccade::emit {

class StopCutter {
 public:
  StopCutter() = default;  // never stops
  // Errors: kUsage (too many, empty, too long, not UTF-8).
  static core::Result<StopCutter> create(std::vector<std::string> stops);

  // What may go out. Empty once stopped.
  std::string push(std::string_view text);
  // The answer has ended without a stop string: what was held back.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  std::size_t completed_bytes() const;
  std::size_t held_bytes() const;

  std::vector<std::string> stops_;  // longest first
  std::string pending_;
  bool stopped_ = false;
};

}  // namespace saccade::emit
