#pragma once
// Time is handed in. Every room that waits or stamps takes a `const Clock&`, so any run can be
// replayed in a test. Only core/system_clock.cpp asks the system.
#include <atomic>
#include <compare>
#include <cstdint>

namespace saccade::core {

// A monotone instant, microseconds since an arbitrary start. Never compared with WallTime.
struct SteadyTime {
  std::int64_t us = 0;
  constexpr auto operator<=>(const SteadyTime&) const = default;
};

// Microseconds from b to a.
constexpr std::int64_t us_between(SteadyTime b, SteadyTime a) { return a.us - b.us; }
constexpr double ms_between(SteadyTime b, SteadyTime a) {
  return static_cast<double>(a.us - b.us) / 1e3;
}

// Microseconds since 1970-01-01 UTC. For labels only: it may step.
struct WallTime {
  std::int64_t us = 0;
  constexpr auto operator<=>(const WallTime&) const = default;
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime now() const = 0;
  virtual WallTime wall_now() const = 0;
  // Blocks the caller for `us` of this clock; returns at once when `us` <= 0.
  virtual void sleep_us(std::int64_t us) const = 0;
};

// The machine's clocks. Thread-safe.
class SystemClock final : public Clock {
 public:
  SteadyTime now() const override;
  WallTime wall_now() const override;
  void sleep_us(std::int64_t us) const override;
};

// A clock that moves only when told; sleeping moves it. Thread-safe.
class ManualClock final : public Clock {
 public:
  SteadyTime now() const override { return SteadyTime{now_us_.load()}; }
  WallTime wall_now() const override { return WallTime{kWallBaseUs + now_us_.load()}; }
  void sleep_us(std::int64_t us) const override {
    if (us > 0) now_us_ += us;
  }
  void advance_us(std::int64_t us) { now_us_ += us; }

 private:
  static constexpr std::int64_t kWallBaseUs = 1'700'000'000'000'000;
  mutable std::atomic<std::int64_t> now_us_{0};
};

}  // namespace saccade::core
