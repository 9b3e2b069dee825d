#pragma once
// How many requests each holder of a key may make: a bucket per name that fills at its rate and
// holds what ten seconds bring, so that a page that loads is not refused but a loop is.
// Limit: as many buckets as there are names in the key file. Threads: one.
#include <algorithm>
#include <map>
#include <string>

#include "core/clock.h"

namespace saccade::transport {

class RateLimiter {
 public:
  // Takes one request of `name`, who may make `per_minute`. 0 = it may go on; else the whole
  // seconds after which it may.
  int take(const std::string& name, int per_minute, core::SteadyTime now) {
    const double per_second = per_minute / 60.0;
    const double most = std::max(1.0, per_second * kBurstSeconds);
    auto [found, first] = buckets_.try_emplace(name, Bucket{most, now});
    Bucket& bucket = found->second;
    const double gained = core::ms_between(bucket.at, now) / 1e3 * per_second;
    bucket = {std::min(most, bucket.left + gained), now};
    if (bucket.left >= 1) {
      bucket.left -= 1;
      return 0;
    }
    return 1 + static_cast<int>((1 - bucket.left) / per_second);
  }

 private:
  static constexpr double kBurstSeconds = 10;
  struct Bucket {
    double left = 0;  // requests
    core::SteadyTime at;
  };
  std::map<std::string, Bucket> buckets_;
};

}  // namespace saccade::transport
