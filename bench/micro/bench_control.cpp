// What the governor itself costs: every decision of a Moment's life with many streams, timed one by
// one. Prints one JSON line: microseconds at P50, P99 and P99.9 per Moment.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "core/clock.h"
#include "core/rng.h"
#include "governor/control.h"

int main() {
  using namespace saccade;
  constexpr int kStreams = 64, kMoments = 200'000;
  const core::SystemClock clock;
  core::Rng rng(1);
  governor::Control control;
  std::vector<governor::StreamId> streams;
  streams.reserve(kStreams);
  core::SteadyTime now{1'000'000};
  for (int i = 0; i < kStreams; ++i) {
    governor::Terms terms;
    terms.policy = governor::PolicyBook().all()[1];
    const auto joined = control.join(terms, now);
    if (joined) streams.push_back(joined->stream);
  }
  std::vector<double> us;
  us.reserve(kMoments);
  for (int i = 0; i < kMoments; ++i) {
    const governor::StreamId stream = streams[static_cast<std::size_t>(i) % streams.size()];
    now.us += 5'000;
    const core::SteadyTime start = clock.now();
    control.want(stream);
    control.tick(now);
    const auto turn = control.grant(now);
    if (turn) {
      control.fits(*turn, 50);
      now.us += 20'000;
      const governor::StepShape shape{.views = 1, .prompt_tokens = 36, .new_tokens = 20};
      control.done(*turn, {shape, 50 + 50 * rng.uniform(), true}, now);
    }
    control.take_knobs(stream);
    us.push_back(static_cast<double>(core::us_between(start, clock.now())));
  }
  std::sort(us.begin(), us.end());
  const auto at = [&](double share) {
    return us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1))];
  };
  std::printf("{\"streams\":%zu,\"moments\":%d,\"us_p50\":%.1f,\"us_p99\":%.1f,\"us_p999\":%.1f}\n",
              streams.size(), kMoments, at(0.5), at(0.99), at(0.999));
}
