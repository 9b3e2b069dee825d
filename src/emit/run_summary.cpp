#include "emit/run_summary.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace saccade::emit {

namespace {
constexpr double kLeast = 1e-3, kMost = 1e7, kGrowth = 1.02;
}  // namespace

std::string_view name_of(DropReason reason) {
  static constexpr std::array<std::string_view, kDropReasons> kNames = {"busy", "rate", "late",
                                                                        "corrupt"};
  return kNames[static_cast<std::size_t>(reason)];
}

void Quantiles::add(double value) {
  if (!std::isfinite(value)) return;
  value = std::clamp(value, kLeast, kMost);
  const auto bucket = static_cast<std::size_t>(std::log(value / kLeast) / std::log(kGrowth));
  ++buckets_[std::min(bucket, kBuckets - 1)];
  ++count_;
  max_ = std::max(max_, value);
}

double Quantiles::at(double q) const {
  if (count_ == 0) return 0;
  const auto rank =
      static_cast<std::uint64_t>(std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_)));
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    below += buckets_[i];
    // The middle of the bucket, but never above what was really seen.
    if (below >= std::max<std::uint64_t>(rank, 1)) {
      return std::min(kLeast * std::pow(kGrowth, static_cast<double>(i) + 0.5), max_);
    }
  }
  return max_;
}

void RunSummary::count(std::uint64_t& counter) {
  const std::lock_guard lock(mutex_);
  ++counter;
}

void RunSummary::count_seen(std::uint64_t pictures) {
  const std::lock_guard lock(mutex_);
  seen_ += pictures;
}

void RunSummary::count_unchanged(std::uint64_t pictures) {
  const std::lock_guard lock(mutex_);
  unchanged_ += pictures;
}

void RunSummary::count_answer(double frame_age_ms) {
  const std::lock_guard lock(mutex_);
  ++answers_;
  frame_age_ms_.add(frame_age_ms);
}

void RunSummary::count_dropped(DropReason reason, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  dropped_[static_cast<std::size_t>(reason)] += count;
}

void RunSummary::saw_media_until(core::MediaTime time) {
  if (time.is_special()) return;
  const std::lock_guard lock(mutex_);
  if (!first_.is_set() || time < first_) first_ = time;
  if (!last_.is_set() || last_ < time) last_ = time;
}

std::vector<std::pair<std::string, double>> RunSummary::numbers(const Machine& machine) const {
  const std::lock_guard lock(mutex_);
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  std::vector<std::pair<std::string, double>> out = {
      {"frames_seen", number(seen_)}, {"frames_unchanged", number(unchanged_)},
      {"answers", number(answers_)},  {"answers_failed", number(failed_)},
      {"events", number(events_)},
  };
  for (std::size_t i = 0; i < kDropReasons; ++i) {
    out.emplace_back("dropped_" + std::string(name_of(static_cast<DropReason>(i))),
                     number(dropped_[i]));
  }
  out.emplace_back("frame_age_samples", number(frame_age_ms_.count()));
  if (frame_age_ms_.count() > 0) {
    out.emplace_back("frame_age_p50_ms", frame_age_ms_.at(0.50));
    out.emplace_back("frame_age_p95_ms", frame_age_ms_.at(0.95));
    out.emplace_back("frame_age_p99_ms", frame_age_ms_.at(0.99));
    out.emplace_back("frame_age_max_ms", frame_age_ms_.max());
  }
  // Epochs continue one another on the media axis, so the difference holds across them.
  const double media = first_.is_set() ? static_cast<double>(last_.us() - first_.us()) / 1e6 : 0.0;
  out.emplace_back("media_s", media);
  out.emplace_back("wall_s", machine.wall_seconds);
  if (machine.wall_seconds > 0) out.emplace_back("realtime_x", media / machine.wall_seconds);
  if (machine.peak_memory_bytes > 0) {
    out.emplace_back("peak_memory_mb", number(machine.peak_memory_bytes) / 1e6);
  }
  return out;
}

}  // namespace saccade::emit
