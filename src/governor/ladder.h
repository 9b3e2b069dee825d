#pragma once
// The order in which quality is given up, and when. A rung includes all rungs before it. Going down
// is quick, one rung at a time, with a pause in which the last step can show its effect; going up
// is slow, and slower still when the last way up had to be taken back; what the way down gained is
// remembered for a while, and must still be there to be given back. So a load on the edge of two
// rungs makes no switching back and forth.
// Pure: state in, state out, the time handed in.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/clock.h"

namespace saccade::governor {

enum class Rung {
  kFull,      // as asked for
  kCalm,      // small changes count as none, pictures are refreshed less often
  kFewTiles,  // fewer sharp tiles
  kPruned,    // fewer visual tokens reach the language model
  kSlow,      // answers half as often and at most half as long, screen text read less often
  kKeys,      // only pictures that stand alone in their stream are decoded
  kRefusing,  // new streams are refused
};
inline constexpr int kRungs = 7;
std::string_view name_of(Rung rung);

// How hard the device is pressed. 1 = just what it can do.
struct Pressure {
  double latency = 0;  // expected age of an answer at P99, in deadlines
  double load = 0;     // device time that the streams' pace asks for, in device time there is
  double above = 0;    // the load that the pace on the rung above would make
  double asked = 1;    // how much is asked for: answers a second at full pace
  double worst() const { return latency > load ? latency : load; }
};

struct LadderTiming {
  std::int64_t down_us = 500'000;       // least time between two rungs down
  std::int64_t up_us = 1'500'000;       // calm needed for a rung up; half when there is much room
  std::int64_t up_max_us = 32'000'000;  // the calm needed doubles up to here with each way up ...
  std::int64_t undone_us = 8'000'000;   // ... that was taken back within this time
  double high = 1.0;                    // pressed above this: down
  double low = 0.75;                    // below this: calm
  double idle = 0.3;                    // load below this: much room
  std::int64_t settle_us = 4'000'000;   // what a way down gained is seen within this time ...
  double gain_max = 4;                  // ... taken for this at most ...
  double gain_s = 8;                    // ... and forgotten to a third after this
};

struct LadderState {
  Rung rung = Rung::kFull;
  core::SteadyTime moved{};       // last change of rung
  core::SteadyTime calm_since{};  // pressure below `low` since then; meaningless when not calm
  bool calm = false;
  bool went_up = false;    // the last change was a way up
  std::int64_t up_us = 0;  // calm needed now; 0 = as in the timing
  // Pressure per asked before the last way down that gained something, and, once it settled, what
  // the rung above was expected to have then; their ratio is what else giving it back would cost.
  double before = 0, after = 0;
  core::SteadyTime gained{};
};

// `rungs` are those that do something here, in order, beginning with kFull.
LadderState next_state(LadderState state, const Pressure& pressure, const std::vector<Rung>& rungs,
                       const LadderTiming& timing, core::SteadyTime now);

}  // namespace saccade::governor
