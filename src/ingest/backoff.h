#pragma once
// When to try a lost source again. Pure: time and randomness are handed in.
// Rule: steps of 0.5 s in the first minute of an outage, because a camera that restarts is back
// within seconds and must give pictures within 2 s of its return; then they double up to 30 s. Each
// wait is drawn from between half and nine tenths of its step: many sources that were lost together
// do not return together, and a crashed worker is replaced within 0.5 s, its start included.
#include <cstdint>
#include <optional>

#include "core/clock.h"
#include "core/rng.h"

namespace saccade::ingest {

class Backoff {
 public:
  static constexpr std::int64_t kFirstUs = 500'000;
  static constexpr std::int64_t kLastUs = 30'000'000;
  static constexpr std::int64_t kEarlyUs = 60'000'000;

  explicit Backoff(core::Rng rng) : rng_(rng) {}

  // The source gives frames: the next failure begins a new outage.
  void up();
  // An attempt failed at `now`; how long to wait before the next one, in (0, kLastUs).
  std::int64_t failed(core::SteadyTime now);

 private:
  core::Rng rng_;
  std::optional<core::SteadyTime> outage_began_;
  std::int64_t step_us_ = kFirstUs;
};

}  // namespace saccade::ingest
