#pragma once
// Where a worker's frames belong on the source's own time axis. Each worker counts from 0 in epoch
// 0; a source may need several workers (loop, reconnect, crash). Pure: the time is handed in.
// Promises, whatever a worker says: times rise strictly per kind inside an epoch, epochs only rise,
// and seconds never go backwards. A frame that would break that is refused.
//   loop       the next run follows where the last one ended, as a new epoch
//   reconnect  the next run follows after the wall-clock gap, as a new epoch
//   replay     the same recorded bytes again after a crash: what was given already is skipped
#include <cstdint>

#include "core/clock.h"
#include "ingest/ingest_types.h"

namespace saccade::ingest {

class Timeline {
 public:
  static constexpr std::int64_t kLoopGapUsMin = 100'000;  // a looped still advances this much

  enum class Verdict { kGive, kGivenBefore, kLate };

  void begin_loop();
  void begin_reconnect();
  void begin_replay();

  // Moves `frame.time` from the worker's axis to ours. Only kGive counts as given.
  Verdict place(Frame& frame, core::SteadyTime now);
  // The same for a time that is only reported. Unset stays unset.
  core::MediaTime map(core::MediaTime worker_time) const;
  // The run ended; its header promised this length (0 = none). It counts when it is believable.
  void note_end(core::MediaDuration promised);

  bool replaying() const { return picture_.replaying || sound_.replaying; }
  // Latest instant given so far.
  core::MediaTime last() const;

 private:
  struct Kind {
    core::MediaTime last;  // start of the last frame given
    bool replaying = false;
  };

  std::int64_t base_us_ = 0;      // worker's 0 on our axis
  std::uint32_t base_epoch_ = 0;  // worker's epoch 0
  std::int64_t end_us_ = 0;       // end of everything given
  std::uint32_t epoch_ = 0;       // highest epoch given
  core::SteadyTime given_at_;     // when the last frame was placed
  bool gave_ = false;
  bool gap_open_ = false;  // the first frame decides how long the outage was
  Kind picture_, sound_;
};

}  // namespace saccade::ingest
