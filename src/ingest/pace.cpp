#include "ingest/pace.h"

#include <algorithm>
#include <utility>

namespace saccade::ingest {

void Pace::put(Frame frame, core::SteadyTime now) {
  if (!tied_) {
    tied_ = true;
    media_us_ = frame.time.us();
    steady_us_ = now;
  }
  const core::MediaTime time = frame.time;
  if (frame.picture() != nullptr) newest_picture_us_ = time.us();
  pending_.emplace(time, std::move(frame));
}

bool Pace::full() const {
  if (pending_.empty()) return false;
  const std::int64_t ahead_us = newest_picture_us_ - pending_.begin()->first.us();
  return pending_.size() >= kPendingMax || ahead_us > kAheadUsMax;
}

core::SteadyTime Pace::due(core::MediaTime time) const {
  return core::SteadyTime{steady_us_.us + (time.us() - media_us_)};
}

std::optional<core::SteadyTime> Pace::next_due() const {
  if (pending_.empty()) return std::nullopt;
  return due(pending_.begin()->first);
}

std::optional<Frame> Pace::take(core::SteadyTime now) {
  if (pending_.empty()) return std::nullopt;
  core::SteadyTime when = due(pending_.begin()->first);
  if (when > now) return std::nullopt;
  if (core::us_between(when, now) > kLateMaxUs) {
    media_us_ = pending_.begin()->first.us();
    steady_us_ = when = now;
  }
  auto node = pending_.extract(pending_.begin());
  node.mapped().captured = std::max(node.mapped().captured, when);
  return std::optional<Frame>(std::move(node.mapped()));
}

}  // namespace saccade::ingest
