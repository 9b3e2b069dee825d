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
  const std::int64_t step = std::min(step_us_, early ? kEarlyLastUs : kLastUs);
  step_us_ = std::min(step * 2, kLastUs);
  return rng_.between(step / 2, step);
}

}  // namespace saccade::ingest
