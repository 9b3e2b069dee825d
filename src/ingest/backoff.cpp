#include "ingest/backoff.h"

#include <algorithm>

namespace saccade::ingest {

void Backoff::up() {
  outage_began_.reset();
  step_us_ = kFirstUs;
}

std::int64_t Backoff::failed(core::SteadyTime now) {
  if (!outage_began_) outage_began_ = now;
  const bool early = core::us_between(*outage_began_, now) < kEarlyUs;
  if (!early) step_us_ = std::min(step_us_ * 2, kLastUs);
  return rng_.between(step_us_ / 2, step_us_ * 9 / 10);
}

}  // namespace saccade::ingest
