#include <chrono>
#include <thread>

#include "core/clock.h"

namespace saccade::core {
namespace {

template <typename SomeClock>
std::int64_t us_of() {
  return std::chrono::duration_cast<std::chrono::microseconds>(SomeClock::now().time_since_epoch())
      .count();
}

}  // namespace

SteadyTime SystemClock::now() const { return SteadyTime{us_of<std::chrono::steady_clock>()}; }

WallTime SystemClock::wall_now() const { return WallTime{us_of<std::chrono::system_clock>()}; }

void SystemClock::sleep_us(std::int64_t us) const {
  if (us > 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
}

}  // namespace saccade::core
