#pragma once
// Delivers decoded frames no earlier than their media time, by the clock: a file watched as if it
// were live, or a playlist that arrives in bursts. Pure: the time is handed in.
// Rules: the first frame is due at once and ties the media axis to the clock. Pictures and sound
// that a file interleaves unevenly are put back in time order while they wait. When the taker is
// more than kLateMaxUs behind, the axis is tied anew instead of sprinting after it.
// Limit: kPendingMax frames, and pictures kAheadUsMax ahead, so that a wish for fewer or more of
// them is soon seen; when full() the caller stops reading, which holds the decoder back.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "core/clock.h"
#include "ingest/ingest_types.h"

namespace saccade::ingest {

class Pace {
 public:
  static constexpr std::size_t kPendingMax = 128;
  static constexpr std::int64_t kLateMaxUs = 1'000'000;
  static constexpr std::int64_t kAheadUsMax = 2'000'000;

  bool empty() const { return pending_.empty(); }
  bool full() const;

  // `frame.time` must be set. Never refused: full() is advice to the caller.
  void put(Frame frame, core::SteadyTime now);
  // When the next frame is due; nothing when none waits.
  std::optional<core::SteadyTime> next_due() const;
  // The next frame when it is due. Its `captured` is then no earlier than its due time, since that
  // is when a live source would have taken it.
  std::optional<Frame> take(core::SteadyTime now);

 private:
  core::SteadyTime due(core::MediaTime time) const;

  std::multimap<core::MediaTime, Frame> pending_;
  std::int64_t newest_picture_us_ = 0;
  bool tied_ = false;
  std::int64_t media_us_ = 0;   // this point of the media axis ...
  core::SteadyTime steady_us_;  // ... is due at this instant
};

}  // namespace saccade::ingest
