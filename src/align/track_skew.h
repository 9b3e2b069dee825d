#pragma once
// Measures how far the sound clock has run from the picture clock. Method: for each kind the
// difference between a reference (arrival, or the sender's wall time) and the media stamp is
// averaged over kAverage of media time; what the two averages do against each other is the skew.
// Jitter averages out, a drift of 400 ppm leaves an error of 400 ppm * (kAverage + kSettle / 2).
// A single late burst moves the average little: samples count as at most kOutlierUs away from it.
#include <cstdint>
#include <optional>

#include "align/align.h"

namespace saccade::align {

// Slow mean of (reference - media), in microseconds. A plain mean at first, later exponential.
class OffsetMean {
 public:
  void add(std::int64_t media_us, std::int64_t reference_us);
  bool known() const { return samples_ > 0; }
  double us() const { return static_cast<double>(base_us_) + mean_us_; }
  double age_s() const { return age_s_; }

 private:
  std::int64_t base_us_ = 0;  // first sample; keeps the mean small and exact
  std::int64_t last_media_us_ = 0;
  std::uint64_t samples_ = 0;
  double mean_us_ = 0, age_s_ = 0;
};

class SkewTracker {
 public:
  static constexpr double kAverageS = 20;        // media seconds a sample stays in the mean
  static constexpr double kSettleS = 20;         // before that kDrift believes the stamps
  static constexpr double kOutlierUs = 150'000;  // once the mean is kOutlierAgeS old
  static constexpr double kOutlierAgeS = 2;
  // Quartz is good to 100 ppm; a faster change is no drift but a change of path delay.
  static constexpr double kDriftMax = 1e-3;
  // With an absolute reference the correction may run faster, still far below a block per block.
  static constexpr double kSlewMax = 5e-2;

  explicit SkewTracker(ClockRule rule) : rule_(rule) {}

  // Stamps on the axis before correction, in order of arrival.
  void see(SourceKind kind, const ingest::Frame& frame);
  // A new epoch: nothing learnt before holds.
  void restart() { *this = SkewTracker(rule_); }
  // Only this kind's clock was replaced; the other average stays.
  void restart(SourceKind kind);

  // What to add to a sound stamp; follows the measurement at a bounded rate as `media_us` rises.
  std::int64_t sound_shift_us(std::int64_t media_us);
  std::int64_t sound_shift_us() const { return static_cast<std::int64_t>(shift_us_); }
  // reference - media by arrival; nothing before the first frame of the kind.
  std::optional<double> arrival_us(SourceKind kind) const;
  // wall - media of pictures, else of sound; nothing without sender times.
  std::optional<double> wall_us() const;

 private:
  struct Clocks {
    OffsetMean arrival, wall;
  };
  struct Target {
    double us = 0;
    double rate_max = 0;  // microseconds per microsecond
  };
  std::optional<Target> target();

  ClockRule rule_;
  Clocks picture_, sound_;
  std::optional<double> start_us_;        // kDrift: the difference while the stamps still agreed
  std::optional<std::int64_t> media_us_;  // of the last shift
  double shift_us_ = 0;
  bool fixed_ = false;  // an absolute reference was adopted once: later changes are slewed
};

}  // namespace saccade::align
