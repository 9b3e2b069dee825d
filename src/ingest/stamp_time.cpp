#include "ingest/stamp_time.h"

#include <algorithm>

namespace saccade::ingest {
namespace {

// Stamps beyond this are garbage; inside it sums of a few of them cannot overflow.
constexpr std::int64_t kStampUsMax = std::int64_t{1} << 60;
// Wild stamps agree when they follow each other this closely.
constexpr std::int64_t kAgreeUs = 500'000;
// Frames a little before the start are cut off; further away the kind has an axis of its own.
constexpr std::int64_t kBeforeStartUs = 10'000'000;

std::optional<std::int64_t> to_us(std::int64_t ticks, const StampOptions& options) {
  const auto time = core::MediaTime::from_ticks(ticks, options.tick_num, options.tick_den);
  if (!time || time->us() > kStampUsMax || time->us() < -kStampUsMax) return std::nullopt;
  return time->us();
}

// A longer duration is not believed (ten minutes, as a still in a file may last) ...
constexpr std::int64_t kDurationUsMax = kJumpAheadRecordedUs;
// ... nor taken for the usual one.
constexpr std::int64_t kTypicalUsMax = 1'000'000;

}  // namespace

std::int64_t UnwrapTicks::unwrap(std::int64_t ticks) {
  if (bits_ == 0) return ticks;
  const std::uint64_t period = std::uint64_t{1} << bits_;
  if (!last_) {
    last_ = ticks;
    return ticks;
  }
  const auto forward =
      (static_cast<std::uint64_t>(ticks) - static_cast<std::uint64_t>(*last_)) & (period - 1);
  const auto last = static_cast<std::uint64_t>(*last_);
  const bool backward = forward > period / 2;
  *last_ = static_cast<std::int64_t>(backward ? last - (period - forward) : last + forward);
  return *last_;
}

Stamp StampTime::stamp(std::optional<std::int64_t> ticks, std::int64_t duration_us) {
  Stamp out;
  const bool told = duration_us > 0 && duration_us <= kDurationUsMax;
  std::optional<std::int64_t> raw;
  if (ticks) raw = to_us(unwrap_.unwrap(*ticks), options_);
  const std::int64_t expected = begun_ ? expected_us_ : axis_.end_us_;
  std::int64_t us = expected;
  if (raw) {
    out.raw_us = *raw;
    us = place(*raw, told ? duration_us : typical_us_);
    out.restamped = us != *raw + *offset_us_;
  } else {
    out.restamped = true;
  }
  if (!begun_ && us < axis_.start_us_) {
    out.before_start = true;
    return out;
  }
  if (begun_ && us <= last_us_) {
    us = last_us_ + std::max<std::int64_t>(1, typical_us_ / 2);
    out.restamped = true;
  }
  if (begun_ && !out.restamped) {
    typical_us_ = std::clamp<std::int64_t>(us - last_us_, 1, kTypicalUsMax);
  } else if (told) {
    typical_us_ = std::min(duration_us, kTypicalUsMax);
  }
  const std::int64_t duration = told ? duration_us : typical_us_;
  last_us_ = us;
  expected_us_ = us + duration;
  axis_.end_us_ = std::max(axis_.end_us_, expected_us_);
  epoch_ = begun_ ? std::max(epoch_, axis_.epoch_at(us)) : axis_.epoch_at(us);
  begun_ = true;
  out.time = core::MediaTime::from_us(us, epoch_);
  out.duration = core::MediaDuration::from_us(duration);
  return out;
}

// Media time of a stamp the source gave. Sets the offset when there is none.
std::int64_t StampTime::place(std::int64_t raw_us, std::int64_t duration_us) {
  if (!offset_us_) return place_first(raw_us);
  if (!begun_) return raw_us + *offset_us_;
  if (near_expected(raw_us + *offset_us_)) {
    agreeing_ = 0;
    return raw_us + *offset_us_;
  }
  return place_wild(raw_us, duration_us);
}

std::int64_t StampTime::place_first(std::int64_t raw_us) {
  const std::int64_t now = begun_ ? expected_us_ : axis_.end_us_;
  if (!axis_.offset_us_) axis_.offset_us_ = now - raw_us;
  offset_us_ = axis_.offset_us_;
  const std::int64_t us = raw_us + *offset_us_;
  const bool odd = us < axis_.start_us_ - kBeforeStartUs || us > now + options_.jump_ahead_us;
  if (odd) offset_us_ = now - raw_us;
  return raw_us + *offset_us_;
}

std::int64_t StampTime::place_wild(std::int64_t raw_us, std::int64_t duration_us) {
  // The other kind may have gone through the same jump already.
  if (axis_.offset_us_ != offset_us_ && near_expected(raw_us + *axis_.offset_us_)) {
    offset_us_ = axis_.offset_us_;
    agreeing_ = 0;
    return raw_us + *offset_us_;
  }
  const std::int64_t apart = raw_us - agreeing_next_us_;
  const bool agrees = agreeing_ > 0 && apart <= kAgreeUs && apart >= -kAgreeUs;
  agreeing_ = agrees ? agreeing_ + 1 : 1;
  agreeing_next_us_ = raw_us + duration_us;
  if (agreeing_ < kJumpFrames) return expected_us_;
  agreeing_ = 0;
  const std::int64_t begin = std::max(axis_.end_us_, expected_us_);
  offset_us_ = begin - raw_us;
  axis_.offset_us_ = offset_us_;
  axis_.epoch_us_ = begin;
  ++axis_.epoch_;
  return begin;
}

bool StampTime::near_expected(std::int64_t us) const {
  return us >= expected_us_ - kJumpBackUs && us <= expected_us_ + options_.jump_ahead_us;
}

}  // namespace saccade::ingest
