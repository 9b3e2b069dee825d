#include "emit/cut_stop.h"

#include <algorithm>

#include "core/limits.h"
#include "emit/utf8.h"

namespace saccade::emit {

core::Result<StopCutter> StopCutter::create(std::vector<std::string> stops) {
  namespace limits = core::limits;
  const auto refuse = [](std::string what) {
    return core::error(core::ErrorCode::kUsage, std::move(what), "change or drop this stop string");
  };
  if (stops.size() > limits::kStopStringsMax) {
    return refuse(std::to_string(stops.size()) + " stop strings; at most " +
                  std::to_string(limits::kStopStringsMax));
  }
  for (const std::string& stop : stops) {
    if (stop.empty() || stop.size() > limits::kStopStringBytesMax) {
      return refuse("a stop string has " + std::to_string(stop.size()) + " bytes; allowed 1.." +
                    std::to_string(limits::kStopStringBytesMax));
    }
    if (!is_valid_utf8(stop)) return refuse("a stop string is not UTF-8");
  }
  std::sort(stops.begin(), stops.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
  StopCutter cutter;
  cutter.stops_ = std::move(stops);
  return cutter;
}

std::string StopCutter::push(std::string_view text) {
  if (stopped_) return {};
  if (stops_.empty()) return std::string(text);
  for (const char c : text) {
    pending_.push_back(c);
    if (const std::size_t match = completed_bytes(); match > 0) {
      stopped_ = true;
      pending_.resize(pending_.size() - match);
      return std::exchange(pending_, {});
    }
  }
  const std::size_t held = held_bytes();
  std::string out = pending_.substr(0, pending_.size() - held);
  pending_.erase(0, out.size());
  return out;
}

std::string StopCutter::finish() { return std::exchange(pending_, {}); }

// Bytes of the stop string that ends where `pending_` ends; 0 when none does.
std::size_t StopCutter::completed_bytes() const {
  for (const std::string& stop : stops_) {
    if (std::string_view(pending_).ends_with(stop)) return stop.size();
  }
  return 0;
}

// The longest end of `pending_` that begins a stop string. Stop strings are valid UTF-8, so this
// never cuts a character.
std::size_t StopCutter::held_bytes() const {
  std::size_t held = 0;
  for (const std::string& stop : stops_) {
    for (std::size_t n = std::min(stop.size() - 1, pending_.size()); n > held; --n) {
      if (std::string_view(pending_).ends_with(std::string_view(stop).substr(0, n))) held = n;
    }
  }
  return held;
}

}  // namespace saccade::emit
