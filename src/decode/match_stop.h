#pragma once
// Watches the bytes of an answer for a stop string, also one that comes in pieces. Holds nothing
// back and changes nothing (cutting is emit's): it only says when to stop generating.
// Threads: one. Limits: kStopStringsMax strings of kStopStringBytesMax bytes; keeps less than the
// longest one.
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace saccade::decode {

class StopMatcher {
 public:
  StopMatcher() = default;  // never matches
  // Errors: kUsage (too many, empty, too long).
  static core::Result<StopMatcher> create(std::vector<std::string> stops);

  // True once the bytes pushed so far hold a stop string; stays true.
  bool push(std::string_view bytes);

 private:
  std::vector<std::string> stops_;
  std::size_t longest_ = 0;
  std::string tail_;  // the last longest_ - 1 bytes
  bool matched_ = false;
};

}  // namespace saccade::decode
