#include "ingest/timeline.h"

#include <algorithm>

namespace saccade::ingest {

void Timeline::begin_loop() {
  base_us_ = std::max(end_us_, base_us_ + kLoopGapUsMin);
  base_epoch_ = epoch_ + 1;
  picture_.replaying = sound_.replaying = false;
}

void Timeline::begin_reconnect() {
  if (!gave_) return;  // nothing to follow on
  gap_open_ = true;
  base_epoch_ = epoch_ + 1;
}

void Timeline::begin_replay() {
  picture_.replaying = picture_.last.is_set();
  sound_.replaying = sound_.last.is_set();
}

core::MediaTime Timeline::map(core::MediaTime worker_time) const {
  if (worker_time.is_special()) return core::MediaTime::unset();
  return core::MediaTime::from_us(worker_time.us() + base_us_, worker_time.epoch() + base_epoch_);
}

Timeline::Verdict Timeline::place(Frame& frame, core::SteadyTime now) {
  if (gap_open_) {
    gap_open_ = false;
    const std::int64_t gap_us = std::max<std::int64_t>(core::us_between(given_at_, now), 1);
    base_us_ = std::max(last().us() + gap_us, end_us_) - frame.time.us();
  }
  const core::MediaTime time = map(frame.time);
  Kind& kind = frame.picture() != nullptr ? picture_ : sound_;
  const bool back = kind.last.is_set() && (time <= kind.last || time.us() < kind.last.us());
  if (back) return kind.replaying ? Verdict::kGivenBefore : Verdict::kLate;
  kind.replaying = false;
  kind.last = frame.time = time;
  end_us_ = std::max(end_us_, (time + frame.duration).us());
  epoch_ = std::max(epoch_, time.epoch());
  given_at_ = now;
  gave_ = true;
  return Verdict::kGive;
}

void Timeline::note_end(core::MediaDuration promised) {
  constexpr std::int64_t kAheadUsMax = 60'000'000;  // of the last frame given
  const std::int64_t end_us = (core::MediaTime::from_us(base_us_) + promised).us();
  if (end_us > end_us_ && end_us - end_us_ <= kAheadUsMax) end_us_ = end_us;
}

core::MediaTime Timeline::last() const {
  if (!picture_.last.is_set()) return sound_.last;
  if (!sound_.last.is_set()) return picture_.last;
  return std::max(picture_.last, sound_.last);
}

}  // namespace saccade::ingest
