#include "governor/ladder.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace saccade::governor {
namespace {

std::size_t place_of(Rung rung, const std::vector<Rung>& rungs) {
  // A rung that is no longer there counts as the one above it.
  const auto after = std::upper_bound(rungs.begin(), rungs.end(), rung);
  return after == rungs.begin() ? 0 : static_cast<std::size_t>(after - rungs.begin()) - 1;
}

LadderState move_to(LadderState state, Rung rung, bool up, core::SteadyTime now) {
  state.rung = rung;
  state.moved = now;
  state.went_up = up;
  state.calm = false;
  return state;
}

double worst_above(const Pressure& pressure) { return std::max(pressure.worst(), pressure.above); }

double per_asked(double pressed, const Pressure& pressure) {
  return pressed / std::max(pressure.asked, 0.1);
}

LadderState go_down(LadderState state, Rung rung, const Pressure& pressure,
                    const LadderTiming& timing, core::SteadyTime now) {
  const bool undone = state.went_up && core::us_between(state.moved, now) < timing.undone_us;
  if (undone) {
    state.up_us = std::min(std::max(state.up_us, timing.up_us) * 2, timing.up_max_us);
  }
  // Refusing others makes nothing lighter.
  if (rung != Rung::kRefusing) {
    state.before = state.after = per_asked(pressure.worst(), pressure);
    state.gained = now;
  }
  return move_to(state, rung, false, now);
}

// The pressure to expect on the rung above. Only of the last way down: those before it came in
// quick succession, and what each of them gained cannot be told apart.
double pressed_above(const LadderState& state, const Pressure& pressure, const LadderTiming& timing,
                     core::SteadyTime now) {
  const double pressed = worst_above(pressure);
  if (state.went_up || state.after <= 0) return pressed;
  const double gain = std::clamp(state.before / state.after, 1.0, timing.gain_max);
  const double since_s = core::ms_between(state.gained, now) / 1e3;
  return pressed * (1 + (gain - 1) * std::exp(-since_s / timing.gain_s));
}

}  // namespace

std::string_view name_of(Rung rung) {
  constexpr std::array<std::string_view, kRungs> kNames = {"full", "calm", "few_tiles", "pruned",
                                                           "slow", "keys", "refusing"};
  return kNames[static_cast<std::size_t>(rung)];
}

LadderState next_state(LadderState state, const Pressure& pressure, const std::vector<Rung>& rungs,
                       const LadderTiming& timing, core::SteadyTime now) {
  if (rungs.empty()) return state;
  const std::size_t place = place_of(state.rung, rungs);
  state.rung = rungs[place];
  const double pressed = pressure.worst();
  const std::int64_t since = core::us_between(state.moved, now);
  if (pressed > timing.high) {
    state.calm = false;
    if (place + 1 >= rungs.size() || since < timing.down_us) return state;
    return go_down(state, rungs[place + 1], pressure, timing, now);
  }
  if (core::us_between(state.gained, now) < timing.settle_us) {
    state.after = std::min(state.after, per_asked(worst_above(pressure), pressure));
  }
  // A way up that held is no longer held against the next one.
  if (state.went_up && since >= timing.undone_us) state.up_us = 0;
  if (pressed > timing.low || pressed_above(state, pressure, timing, now) > timing.high) {
    state.calm = false;
    return state;
  }
  if (!state.calm) {
    state.calm = true;
    state.calm_since = now;
  }
  std::int64_t needed = std::max(state.up_us, timing.up_us);
  if (std::max(pressure.load, pressure.above) < timing.idle) needed = timing.up_us / 3;
  if (place == 0 || core::us_between(state.calm_since, now) < needed) return state;
  return move_to(state, rungs[place - 1], true, now);
}

}  // namespace saccade::governor
