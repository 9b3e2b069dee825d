#include "core/media_time.h"

#include <cmath>
#include <cstdio>

namespace saccade::core {
namespace {

__extension__ using Wide = __int128;  // ticks times a million do not fit 64 bits

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

}  // namespace

MediaDuration MediaDuration::from_seconds(double seconds) {
  constexpr double kLimit = 9.2e12;  // seconds; inside int64 microseconds
  if (!(seconds == seconds)) return MediaDuration(0);
  if (seconds > kLimit) seconds = kLimit;
  if (seconds < -kLimit) seconds = -kLimit;
  return MediaDuration(std::llround(seconds * 1e6));
}

std::optional<MediaTime> MediaTime::from_ticks(std::int64_t ticks, std::int64_t num,
                                               std::int64_t den, std::uint32_t epoch) {
  if (den <= 0 || num < 0) return std::nullopt;
  // What overflows even here is far outside of 64 bits after the division too.
  Wide scaled = 0;
  if (__builtin_mul_overflow(static_cast<Wide>(ticks) * num, Wide{1'000'000}, &scaled) ||
      __builtin_add_overflow(scaled, Wide{scaled >= 0 ? den / 2 : -(den / 2)}, &scaled)) {
    return std::nullopt;
  }
  const Wide us = scaled / den;
  if (us <= kUnsetUs || us >= kEndUs) return std::nullopt;
  return MediaTime(static_cast<std::int64_t>(us), epoch);
}

MediaTime MediaTime::operator+(MediaDuration d) const {
  if (is_special()) return *this;
  return from_us(saturating_add(us_, d.us()), epoch_);
}

MediaTime MediaTime::operator-(MediaDuration d) const {
  if (d.us() == kUnsetUs) return *this + MediaDuration::from_us(kEndUs) + MediaDuration::from_us(1);
  return *this + MediaDuration::from_us(-d.us());
}

std::optional<MediaDuration> MediaTime::since(MediaTime earlier) const {
  if (is_special() || earlier.is_special() || epoch_ != earlier.epoch_) return std::nullopt;
  std::int64_t diff = 0;
  if (__builtin_sub_overflow(us_, earlier.us_, &diff)) return std::nullopt;
  return MediaDuration::from_us(diff);
}

std::string MediaTime::to_string() const {
  if (!is_set()) return "unset";
  if (is_end()) return "end";
  char text[48];
  std::snprintf(text, sizeof text, "%.3f", seconds());
  return text;
}

std::optional<WallTime> WallMapping::wall_at(MediaTime t) const {
  const auto delta = t.since(media);
  if (!delta) return std::nullopt;
  return WallTime{saturating_add(wall.us, delta->us())};
}

}  // namespace saccade::core
