#pragma once
// Ends FFmpeg's blocking calls. FFmpeg polls it from inside; `interrupt` may come from any thread,
// everything else belongs to the thread that reads.
#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/clock.h"

namespace saccade::ingest {

class ReadDeadline {
 public:
  explicit ReadDeadline(const core::Clock& clock) : clock_(clock) {}
  void set(std::chrono::milliseconds from_now) {
    until_us_ = clock_.now().us + std::chrono::microseconds(from_now).count();
  }
  void interrupt() { interrupted_ = true; }
  const std::atomic<bool>& interrupted() const { return interrupted_; }
  bool passed() const { return clock_.now().us >= until_us_; }
  // FFmpeg's AVIOInterruptCB: 1 = give up.
  static int on_check(void* self) {
    const auto& me = *static_cast<const ReadDeadline*>(self);
    return me.interrupted_ || me.passed() ? 1 : 0;
  }

 private:
  const core::Clock& clock_;
  std::atomic<bool> interrupted_{false};
  std::int64_t until_us_ = INT64_MAX;
};

}  // namespace saccade::ingest
