#pragma once
// When to try a lost source again. Pure: time and randomness are handed in.
// Rule: the waits double from 0.5 s to 30 s, but stay at 0.7 s or less in the first minute of an
// outage, because a camera that restarts is back within seconds and must give pictures within 2 s
// of its return. Each wait is drawn from the upper half of its step, so that many sources that were
// lost together do not return together, and so that the first one is never longer than 0.5 s.
#include <cstdint>
#include <optional>

#include "core/clock.h"
#include "core/rng.h"

namespace saccade::ingest {

class Backoff {
 public:
  static constexpr std::int64_t kFirstUs = 500'000;
  static constexpr std::int64_t kLastUs = 30'000'000;
  static constexpr std::int64_t kEarlyLastUs = 700'000;  // the longest wait of the first minute
  static constexpr std::int64_t kEarlyUs = 60'000'000;

  explicit Backoff(core::Rng rng) : rng_(rng) {}

  // The source gives frames: the next failure begins a new outage.
  void up();
  // An attempt failed at `now`; how long to wait before the next one, in (0, kLastUs].
  std::int64_t failed(core::SteadyTime now);

 private:
  core::Rng rng_;
  std::optional<core::SteadyTime> outage_began_;
  std::int64_t step_us_ = kFirstUs;
};

}  // namespace saccade::ingest
