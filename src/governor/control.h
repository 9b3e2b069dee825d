#pragma once
// The loop without threads: what streams there are, what the device spends on them, how hard it is
// pressed, and what follows from it. Everything that happens is told to it with the time; the same
// story gives the same decisions. governor.h puts a lock and waiting around it.
//
// Two levers, the cheap one first. Width: how many Moments are on the device at once; more make
// better use of it and each one older. Rung: how much quality is given up (ladder.h). The width
// follows the age of answers, the rung follows the load, and the age only where one Moment at a
// time is still too slow.
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/knobs.h"
#include "core/result.h"
#include "governor/cost_model.h"
#include "governor/ladder.h"
#include "governor/policy.h"
#include "governor/turns.h"

namespace saccade::governor {

inline constexpr int kWidthMax = 8;
inline constexpr std::int64_t kTickUs = 250'000;
// One picture too old for its deadline is passed over for the next one, but not for ever.
inline constexpr int kLateInARowMax = 3;
// First turns of a stream that are not learnt from.
inline constexpr int kWarmUpTurns = 2;

// On what terms a stream is run.
struct Terms {
  Policy policy;
  int slo_ms = 0;  // 1..600'000; 0 = the policy's
  double weight = 1;
  Abilities abilities;
  core::Knobs base;

  double deadline_ms() const { return slo_ms > 0 ? slo_ms : policy.slo_ms; }
};

struct Admission {
  StreamId stream = 0;
  bool degraded = false;  // accepted, but not as asked for
};

// What became of a turn.
struct Served {
  StepShape shape;        // company is filled in here
  double age_ms = 0;      // of the picture when its answer was out
  bool answered = false;  // false: nothing had changed, or it was passed over
};

// Knobs and the rung they are for.
struct Published {
  core::Knobs knobs;
  Rung rung = Rung::kFull;
};

struct Snapshot {
  Rung rung = Rung::kFull;
  int width = 1, running = 0, waiting = 0, streams = 0;
  Pressure pressure;
  std::uint64_t turns = 0, answers = 0, misses = 0, passed_over = 0, refused = 0;
  std::uint64_t rung_changes = 0;
  double prediction_mape = 0;  // of what a turn takes
};

class Control {
 public:
  explicit Control(LadderTiming timing = {}) : timing_(timing) {}

  // Errors: kExhausted (the device cannot keep another stream's pace, or kStreamsMax).
  core::Result<Admission> join(const Terms& terms, core::SteadyTime now);
  void leave(StreamId stream, core::SteadyTime now);
  void set_base(StreamId stream, const core::Knobs& base);
  // Other terms for a stream that runs; its place stays.
  void set_policy(StreamId stream, const Policy& policy, int slo_ms);
  // Streams whose policy is in the book run by it from now on; the others go on as they are.
  void set_policies(const PolicyBook& book);

  void want(StreamId stream) { turns_.want(stream); }
  // The stream that may take its newest Moment now; call until nothing comes.
  std::optional<StreamId> grant(core::SteadyTime now);
  // Whether a picture of this age can still be answered in time. False is counted as passed over.
  bool fits(StreamId stream, double age_ms);
  // One turn of the stream is over.
  void done(StreamId stream, const Served& served, core::SteadyTime now);

  // Looks at the last stretch once every kTickUs; call as often as you like.
  void tick(core::SteadyTime now);
  // Knobs to use from the next Moment on, once for each change.
  std::optional<Published> take_knobs(StreamId stream);

  Snapshot snapshot() const;
  const CostModel& costs() const { return costs_; }

 private:
  struct Stream {
    Terms terms;
    StepShape shape;        // of its answers, a fading mean
    double device_ms = -1;  // per turn, a fading mean; below 0 = not known
    core::SteadyTime cost_seen{};
    double fresh_ms = 0;  // age of its pictures when their turn came, a fading mean
    int warm_up = kWarmUpTurns;
    int late_in_a_row = 0;
    bool told = false;  // its Knobs are those of the rung
  };
  struct Aged {
    core::SteadyTime at;
    double ratio;  // age over deadline
  };
  struct Running {
    StreamId stream;
    core::SteadyTime since;
    double device_ms = 0, company_ms = 0;
  };

  void spend(core::SteadyTime now);
  double in_company(StepShape shape) const;
  double load(Rung rung, const Terms* newcomer) const;
  double asked() const;
  // Of the answers since then: age over deadline at P97.
  double tail(core::SteadyTime since) const;
  void choose_width(double tail, core::SteadyTime now);
  std::vector<Rung> rungs() const;

  const LadderTiming timing_;
  Turns turns_;
  CostModel costs_;
  LadderState ladder_;
  std::map<StreamId, Stream> streams_;
  std::vector<Running> running_;
  StreamId next_stream_ = 1;
  core::SteadyTime spent_until_{}, ticked_{};
  std::deque<Aged> aged_;  // the newest answers under this width
  core::SteadyTime width_changed_{};
  double quick_ = 0;  // a turn's time over its deadline, a fading mean
  Snapshot told_;     // counts, and the pressure of the last tick
};

}  // namespace saccade::governor
