#include "decode/match_stop.h"

#include <algorithm>
#include <utility>

#include "core/limits.h"

namespace saccade::decode {

core::Result<StopMatcher> StopMatcher::create(std::vector<std::string> stops) {
  if (stops.size() > core::limits::kStopStringsMax) {
    return core::error(core::ErrorCode::kUsage,
                       std::to_string(stops.size()) + " stop strings (at most " +
                           std::to_string(core::limits::kStopStringsMax) + ")");
  }
  StopMatcher out;
  for (const auto& stop : stops) {
    if (stop.empty() || stop.size() > core::limits::kStopStringBytesMax) {
      return core::error(core::ErrorCode::kUsage,
                         "a stop string of " + std::to_string(stop.size()) + " bytes (allowed 1.." +
                             std::to_string(core::limits::kStopStringBytesMax) + ")");
    }
    out.longest_ = std::max(out.longest_, stop.size());
  }
  out.stops_ = std::move(stops);
  return out;
}

bool StopMatcher::push(std::string_view bytes) {
  if (matched_ || stops_.empty()) return matched_;
  tail_ += bytes;
  matched_ = std::any_of(stops_.begin(), stops_.end(), [this](const std::string& stop) {
    return tail_.find(stop) != std::string::npos;
  });
  if (tail_.size() >= longest_) tail_.erase(0, tail_.size() - (longest_ - 1));
  return matched_;
}

}  // namespace saccade::decode
