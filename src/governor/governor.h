#pragma once
// The governor of one device: streams join it, wait for their turns, and take the Knobs it
// publishes. It never calls a stage.
// Threads: any; one lock. A stream takes its turns on one thread at a time.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "core/clock.h"
#include "core/result.h"
#include "governor/control.h"

namespace saccade::governor {

class Governor {
 public:
  // `clock` must outlive it.
  explicit Governor(const core::Clock& clock, LadderTiming timing = {});
  Governor(const Governor&) = delete;
  Governor& operator=(const Governor&) = delete;

  // The right to have one Moment on the device, until it is destroyed.
  class Turn {
   public:
    Turn() = default;  // holds for good; for streams without a governor
    Turn(Turn&& other) noexcept
        : governor_(std::exchange(other.governor_, nullptr)),
          stream_(other.stream_),
          served_(other.served_) {}
    Turn& operator=(Turn&& other) noexcept;
    ~Turn() { end(); }

    // False when an answer to a picture taken then would come too late, while the next picture's
    // would not.
    bool fits(core::SteadyTime captured) const;
    // What was done with it, for the cost model; without it the turn counts as one in which nothing
    // had changed. `captured` is the picture's.
    void served(const StepShape& shape, core::SteadyTime captured);

   private:
    friend class Governor;
    Turn(Governor& governor, StreamId stream) : governor_(&governor), stream_(stream) {}
    void end();

    Governor* governor_ = nullptr;
    StreamId stream_ = 0;
    Served served_;
  };

  // A stream's place; it leaves when destroyed, which must be after its turns.
  class Place {
   public:
    Place(Governor& governor, Admission admission) : governor_(governor), admission_(admission) {}
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    bool degraded() const { return admission_.degraded; }
    // Waits for this stream's turn. Nothing after close().
    std::optional<Turn> take_turn();
    // Leaves: ends waiting, now and later. Any thread, as often as you like.
    void close();
    // Knobs to use from the next Moment on, once for each change. Any thread.
    std::optional<Published> take_knobs();
    // What was asked for has changed. Any thread.
    void set_base(const core::Knobs& base);
    void set_policy(const Policy& policy, int slo_ms);
    Governor& governor() const { return governor_; }

   private:
    Governor& governor_;
    const Admission admission_;
    bool closed_ = false;  // under the governor's lock
  };
  // Errors: those of Control::join.
  core::Result<std::unique_ptr<Place>> join(const Terms& terms);

  // The policies there are, and others in their place: streams that run go on by them.
  PolicyBookPtr policies() const;
  void set_policies(PolicyBookPtr book);

  Snapshot snapshot() const;

 private:
  void give_turns();

  const core::Clock& clock_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable given_turn_;
  Control control_;
  PolicyBookPtr book_ = std::make_shared<PolicyBook>();
  std::set<StreamId> given_;  // turns given and not yet taken
};

}  // namespace saccade::governor
