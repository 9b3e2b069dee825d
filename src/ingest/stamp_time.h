#pragma once
// From the source's own timestamps to media time. A source's stamps wrap, go missing, repeat, jump
// for one frame or jump for good; media time does none of that: it rises strictly per kind, and a
// lasting jump becomes a new epoch that continues where the old one ended.
// Method: stamps are unwrapped, shifted by one offset shared by both kinds (so that the offset
// between sound and pictures survives) and compared with what the neighbours predict. A stamp far
// from the prediction is replaced by it; kJumpFrames in a row that agree among themselves are
// believed instead. Epochs cut the common media axis: a kind enters one by its position.
// Pure: no clock, no FFmpeg. One thread.
#include <cstdint>
#include <optional>

#include "core/media_time.h"

namespace saccade::ingest {

// Stamps that agree among themselves before a jump counts as lasting.
inline constexpr int kJumpFrames = 3;
// A stamp this far behind the prediction is wild.
inline constexpr std::int64_t kJumpBackUs = 500'000;
// The same ahead of it: for live sources and broadcast containers ...
inline constexpr std::int64_t kJumpAheadUs = 10'000'000;
// ... and for other recorded ones, where a still picture may last long.
inline constexpr std::int64_t kJumpAheadRecordedUs = 600'000'000;
// Stands in for a frame's duration until two frames have told it.
inline constexpr std::int64_t kDurationGuessUs = 40'000;

// Undoes the wrap of a counter of `bits` bits: the value nearest to the one before.
class UnwrapTicks {
 public:
  // 0 or more than 62 bits: the counter never wraps.
  explicit UnwrapTicks(int bits) : bits_(bits > 0 && bits <= 62 ? bits : 0) {}
  std::int64_t unwrap(std::int64_t ticks);

 private:
  int bits_;
  std::optional<std::int64_t> last_;
};

// What both kinds of one source share: where the media axis stands against the source's own.
class StampAxis {
 public:
  explicit StampAxis(core::MediaTime start)
      : start_us_(start.us()), end_us_(start.us()), epoch_(start.epoch()), epoch_us_(start.us()) {}

  bool has_offset() const { return offset_us_.has_value(); }
  // `raw_us` of the source becomes the start of the media axis.
  void set_origin(std::int64_t raw_us) { offset_us_ = start_us_ - raw_us; }

 private:
  friend class StampTime;
  std::uint32_t epoch_at(std::int64_t us) const { return us >= epoch_us_ ? epoch_ : epoch_ - 1; }

  std::int64_t start_us_;
  std::optional<std::int64_t> offset_us_;  // media = raw + offset, newest
  std::int64_t end_us_;                    // largest end given to any kind
  std::uint32_t epoch_;                    // newest ...
  std::int64_t epoch_us_;                  // ... and where it begins
};

struct StampOptions {
  int wrap_bits = 0;                       // of the counter behind `ticks`; 0 = never wraps
  int tick_num = 1, tick_den = 1'000'000;  // seconds of a tick
  std::int64_t jump_ahead_us = kJumpAheadUs;
};

struct Stamp {
  core::MediaTime time;
  core::MediaDuration duration;  // as given, or what the neighbours suggest
  std::int64_t raw_us = 0;       // unwrapped, on the source's axis; only when the source said it
  bool restamped = false;        // the source's own stamp was missing or not believed
  bool before_start = false;     // belongs before the media axis begins: drop it
};

// One per kind. `axis` must outlive it.
class StampTime {
 public:
  StampTime(StampAxis& axis, StampOptions options)
      : axis_(axis), options_(options), unwrap_(options.wrap_bits) {}

  // Frames in presentation order. `duration_us` <= 0 = unknown.
  Stamp stamp(std::optional<std::int64_t> ticks, std::int64_t duration_us);

 private:
  std::int64_t place(std::int64_t raw_us, std::int64_t duration_us);
  std::int64_t place_first(std::int64_t raw_us);
  std::int64_t place_wild(std::int64_t raw_us, std::int64_t duration_us);
  bool near_expected(std::int64_t us) const;

  StampAxis& axis_;
  const StampOptions options_;
  UnwrapTicks unwrap_;
  bool begun_ = false;
  std::optional<std::int64_t> offset_us_;  // this kind's; taken from the axis at jumps
  std::int64_t last_us_ = 0;               // media time given last ...
  std::int64_t expected_us_ = 0;           // ... and where the next one should be
  std::int64_t typical_us_ = kDurationGuessUs;
  std::uint32_t epoch_ = 0;
  int agreeing_ = 0;                   // wild stamps in a row that agree
  std::int64_t agreeing_next_us_ = 0;  // raw, where the next of them should be
};

}  // namespace saccade::ingest
