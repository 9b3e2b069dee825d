#pragma once
// Media time: where on the stream's own axis something belongs. Integer microseconds, so that sums
// never drift, inside a numbered epoch, so that a jump of the source cannot look like a long gap.
// Media time and wall time never mix: they are different types, joined only by WallMapping.
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "core/clock.h"

namespace saccade::core {

// A difference of two media times of one epoch, in microseconds. Saturates instead of overflowing.
class MediaDuration {
 public:
  constexpr MediaDuration() = default;
  static constexpr MediaDuration from_us(std::int64_t us) { return MediaDuration(us); }
  static constexpr MediaDuration from_ms(std::int64_t ms) {
    std::int64_t us = 0;
    if (__builtin_mul_overflow(ms, std::int64_t{1000}, &us)) us = ms < 0 ? kMinUs : kMaxUs;
    return MediaDuration(us);
  }
  static MediaDuration from_seconds(double seconds);

  constexpr std::int64_t us() const { return us_; }
  constexpr double seconds() const { return static_cast<double>(us_) / 1e6; }
  constexpr double ms() const { return static_cast<double>(us_) / 1e3; }
  constexpr MediaDuration abs() const {
    return MediaDuration(us_ == kMinUs ? kMaxUs : (us_ < 0 ? -us_ : us_));
  }
  constexpr auto operator<=>(const MediaDuration&) const = default;

 private:
  static constexpr std::int64_t kMinUs = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kMaxUs = std::numeric_limits<std::int64_t>::max();
  constexpr explicit MediaDuration(std::int64_t us) : us_(us) {}
  std::int64_t us_ = 0;
};

// A point on the media axis. Ordered by epoch first. Special values: unset() (no time known) sorts
// before everything, end() (after the last frame of a stream) sorts after everything.
class MediaTime {
 public:
  constexpr MediaTime() = default;  // unset
  static constexpr MediaTime unset() { return MediaTime(); }
  static constexpr MediaTime end() {
    return MediaTime(kEndUs, std::numeric_limits<std::uint32_t>::max());
  }
  // `us` outside the valid range is clamped to it: the range is 292 thousand years.
  static constexpr MediaTime from_us(std::int64_t us, std::uint32_t epoch = 0) {
    return MediaTime(us <= kUnsetUs ? kUnsetUs + 1 : (us >= kEndUs ? kEndUs - 1 : us), epoch);
  }
  // `ticks` of `num/den` seconds each, rounded to the nearest microsecond. Nothing when `den` is
  // not positive, `num` is negative or the result does not fit.
  static std::optional<MediaTime> from_ticks(std::int64_t ticks, std::int64_t num, std::int64_t den,
                                             std::uint32_t epoch = 0);

  constexpr bool is_set() const { return us_ != kUnsetUs; }
  constexpr bool is_end() const { return us_ == kEndUs; }
  constexpr bool is_special() const { return !is_set() || is_end(); }
  constexpr std::int64_t us() const { return us_; }
  constexpr double seconds() const { return static_cast<double>(us_) / 1e6; }
  constexpr std::uint32_t epoch() const { return epoch_; }

  // Special values stay what they are; everything else saturates at the valid range.
  MediaTime operator+(MediaDuration d) const;
  MediaTime operator-(MediaDuration d) const;
  // Nothing when either side is special or the epochs differ.
  std::optional<MediaDuration> since(MediaTime earlier) const;

  constexpr std::strong_ordering operator<=>(const MediaTime& o) const {
    if (const auto c = epoch_ <=> o.epoch_; c != 0 && is_set() && o.is_set()) return c;
    return us_ <=> o.us_;
  }
  constexpr bool operator==(const MediaTime& o) const { return (*this <=> o) == 0; }

  // "12.480", "unset" or "end"; for logs and tests.
  std::string to_string() const;

 private:
  static constexpr std::int64_t kUnsetUs = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kEndUs = std::numeric_limits<std::int64_t>::max();
  constexpr MediaTime(std::int64_t us, std::uint32_t epoch) : us_(us), epoch_(epoch) {}

  std::int64_t us_ = kUnsetUs;
  std::uint32_t epoch_ = 0;
};

// Ties one epoch's media axis to wall time, from an RTCP sender report or the arrival clock.
struct WallMapping {
  MediaTime media;  // this point ...
  WallTime wall;    // ... happened at this wall time

  // Nothing for special values or another epoch.
  std::optional<WallTime> wall_at(MediaTime t) const;
};

}  // namespace saccade::core
