#pragma once
// What a run did, in numbers: counts, frame-age percentiles, speed against real time, memory.
// Limits: constant memory however long the run (a logarithmic histogram, each bucket 2 % wide, so a
// percentile is within 1 % of a value that was really seen). Threads: any; every call locks.
#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/media_time.h"

namespace saccade::emit {

// Why something was not served. Names as in the event schema.
enum class DropReason {
  kBusy,     // a newer picture took its place while the device worked
  kRate,     // not chosen by the sampling rate, or no slot was free
  kLate,     // came after its time
  kCorrupt,  // could not be decoded
};
inline constexpr std::size_t kDropReasons = 4;
std::string_view name_of(DropReason reason);

// Percentiles of positive values in constant memory. Not thread-safe.
class Quantiles {
 public:
  // Values that are no number are left out; others are clamped to 1e-3..1e7.
  void add(double value);
  // q in 0..1; 0 without any value.
  double at(double q) const;
  std::uint64_t count() const { return count_; }
  double max() const { return max_; }

 private:
  static constexpr std::size_t kBuckets = 1165;  // log(1e10) / log(1.02)
  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  double max_ = 0;
};

class RunSummary {
 public:
  void count_seen(std::uint64_t pictures = 1);       // pictures that reached the senses
  void count_unchanged(std::uint64_t pictures = 1);  // of these, equal to the kept content
  void count_answer(double frame_age_ms);            // an answer went out
  void count_dropped(DropReason reason, std::uint64_t count);
  void count_event() { count(events_); }
  void count_failed() { count(failed_); }  // answers that ended with an error
  void saw_media_until(core::MediaTime time);

  struct Machine {
    double wall_seconds = 0;
    std::uint64_t peak_memory_bytes = 0;  // 0 = unknown, left out
  };
  // Names end in their unit. Real-time factor = media seconds per wall second.
  std::vector<std::pair<std::string, double>> numbers(const Machine& machine) const;

 private:
  void count(std::uint64_t& counter);

  mutable std::mutex mutex_;  // guards everything below
  std::uint64_t seen_ = 0, unchanged_ = 0, answers_ = 0, events_ = 0, failed_ = 0;
  std::array<std::uint64_t, kDropReasons> dropped_{};
  core::MediaTime first_, last_;
  Quantiles frame_age_ms_;
};

}  // namespace saccade::emit
