#include "align/track_skew.h"

#include <algorithm>
#include <cmath>

namespace saccade::align {
namespace {

// A gap counts as at most one second: a pause must not throw the average away.
constexpr double kStepMinS = 0.001, kStepMaxS = 1.0;

}  // namespace

void OffsetMean::add(std::int64_t media_us, std::int64_t reference_us) {
  if (samples_++ == 0) {
    base_us_ = reference_us - media_us;
    last_media_us_ = media_us;
    age_s_ = kStepMinS;
    return;
  }
  const double step_s = std::clamp(static_cast<double>(std::abs(media_us - last_media_us_)) / 1e6,
                                   kStepMinS, kStepMaxS);
  last_media_us_ = std::max(last_media_us_, media_us);
  age_s_ += step_s;
  double off = static_cast<double>(reference_us - media_us - base_us_) - mean_us_;
  if (age_s_ > SkewTracker::kOutlierAgeS) {
    off = std::clamp(off, -SkewTracker::kOutlierUs, SkewTracker::kOutlierUs);
  }
  mean_us_ += off * std::min(1.0, step_s / std::min(age_s_, SkewTracker::kAverageS));
}

void SkewTracker::see(SourceKind kind, const ingest::Frame& frame) {
  if (rule_ == ClockRule::kStamps) return;
  Clocks& clocks = kind == SourceKind::kVideo ? picture_ : sound_;
  clocks.arrival.add(frame.time.us(), frame.captured.us);
  if (frame.wall) clocks.wall.add(frame.time.us(), frame.wall->us);
}

void SkewTracker::restart(SourceKind kind) {
  (kind == SourceKind::kVideo ? picture_ : sound_) = Clocks{};
  start_us_.reset();
  fixed_ = false;
}

std::optional<SkewTracker::Target> SkewTracker::target() {
  if (picture_.wall.known() && sound_.wall.known()) {
    return Target{sound_.wall.us() - picture_.wall.us(), kSlewMax};
  }
  if (!picture_.arrival.known() || !sound_.arrival.known()) return std::nullopt;
  const double apart_us = sound_.arrival.us() - picture_.arrival.us();
  if (rule_ == ClockRule::kArrival) return Target{apart_us, kSlewMax};
  if (std::min(picture_.arrival.age_s(), sound_.arrival.age_s()) < kSettleS) return std::nullopt;
  if (!start_us_) start_us_ = apart_us - shift_us_;
  return Target{apart_us - *start_us_, kDriftMax};
}

std::int64_t SkewTracker::sound_shift_us(std::int64_t media_us) {
  const auto to = target();
  if (!to) return sound_shift_us();
  const double step_us = static_cast<double>(
      std::max<std::int64_t>(0, media_us_ ? media_us - *media_us_ : core::limits::kAudioBlockUs));
  media_us_ = media_us_ ? std::max(*media_us_, media_us) : media_us;
  if (!fixed_ && to->rate_max == kSlewMax) {
    shift_us_ = to->us;  // the first absolute fix is taken at once
    fixed_ = true;
  } else {
    const double change_us = step_us * to->rate_max;
    shift_us_ += std::clamp(to->us - shift_us_, -change_us, change_us);
  }
  return sound_shift_us();
}

std::optional<double> SkewTracker::arrival_us(SourceKind kind) const {
  const OffsetMean& mean = (kind == SourceKind::kVideo ? picture_ : sound_).arrival;
  return mean.known() ? std::optional(mean.us()) : std::nullopt;
}

std::optional<double> SkewTracker::wall_us() const {
  if (picture_.wall.known()) return picture_.wall.us();
  // Sound is already moved onto the picture axis, so its wall offset moves the other way.
  if (sound_.wall.known()) return sound_.wall.us() - shift_us_;
  return std::nullopt;
}

}  // namespace saccade::align
