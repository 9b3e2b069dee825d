#include "ingest/watchdog.h"

#include <algorithm>
#include <cstring>

namespace saccade::ingest {
namespace {

constexpr int kParts = 4;        // of each side
constexpr int kRowsPerPart = 4;  // sampled

std::size_t part_index(int row, int column) {
  return static_cast<std::size_t>(row) * kParts + static_cast<std::size_t>(column);
}

std::uint64_t mix(std::uint64_t hash, const std::uint8_t* bytes, std::size_t count) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ULL;
  std::uint64_t word = 0;
  for (; count >= sizeof(word); bytes += sizeof(word), count -= sizeof(word)) {
    std::memcpy(&word, bytes, sizeof(word));
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 29;
  }
  for (; count > 0; ++bytes, --count) hash = (hash ^ *bytes) * kPrime;
  return hash;
}

}  // namespace

PictureSignature sign_picture(const core::PixelView& picture) {
  PictureSignature signature{};
  if (picture.empty()) return signature;
  for (int part = 0; part < kParts; ++part) {
    for (int sample = 0; sample < kRowsPerPart; ++sample) {
      const int rows = kParts * kRowsPerPart;
      const int y =
          static_cast<int>(std::int64_t{picture.height} * (part * kRowsPerPart + sample) / rows);
      for (int column = 0; column < kParts; ++column) {
        const int x0 = picture.width * column / kParts;
        const int x1 = picture.width * (column + 1) / kParts;
        std::uint64_t& cell = signature[part_index(part, column)];
        cell = mix(cell + 1, picture.row(y) + x0 * core::kRgbBytes,
                   static_cast<std::size_t>(x1 - x0) * core::kRgbBytes);
      }
    }
  }
  return signature;
}

void Watchdog::start(core::SteadyTime now) {
  alive_at_ = changed_at_ = now;
  has_last_ = repeated_ = false;
  noisy_pairs_ = 0;
}

void Watchdog::saw_picture(core::SteadyTime now, const PictureSignature& signature) {
  alive_at_ = now;
  int differing = 0;
  for (std::size_t i = 0; i < signature.size(); ++i) differing += signature[i] != last_[i] ? 1 : 0;
  const bool first = !has_last_;
  last_ = signature;
  has_last_ = true;
  if (!first && differing == 0) {
    repeated_ = true;
    return;
  }
  // A source that repeated a picture and went on has shown that it may do so: the proof starts
  // anew.
  const bool noisy = !first && !repeated_ && differing >= kNoisyPartsMin;
  noisy_pairs_ = noisy ? std::min(noisy_pairs_ + 1, kNoisyPairs) : 0;
  repeated_ = false;
  changed_at_ = now;
}

Health Watchdog::health(core::SteadyTime now) const {
  const std::int64_t silent_us = core::us_between(alive_at_, now);
  const std::int64_t same_us = noisy_pairs_ >= kNoisyPairs ? core::us_between(changed_at_, now) : 0;
  if (std::max(silent_us, same_us) >= 2 * limit_us_) return Health::kDead;
  if (silent_us >= limit_us_) return Health::kSilent;
  return same_us >= limit_us_ ? Health::kFrozen : Health::kFine;
}

core::SteadyTime Watchdog::next_check(core::SteadyTime now) const {
  const core::SteadyTime since =
      noisy_pairs_ >= kNoisyPairs ? std::min(alive_at_, changed_at_) : alive_at_;
  const bool past = core::us_between(since, now) >= limit_us_;
  return core::SteadyTime{since.us + limit_us_ * (past ? 2 : 1)};
}

}  // namespace saccade::ingest
