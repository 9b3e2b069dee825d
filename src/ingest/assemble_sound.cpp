#include "ingest/assemble_sound.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/limits.h"

namespace saccade::ingest {
namespace {

namespace limits = core::limits;

constexpr double kSampleUs = 1e6 / limits::kAudioRate;
constexpr auto kBlock = static_cast<std::size_t>(limits::kAudioBlockSamples);
// Part of a difference that is followed per piece, and the most per microsecond of sound: fast
// enough for a clock that is 10 % off, too slow for one late stamp to be heard as a jump.
constexpr double kFollow = 1.0 / 16;
constexpr double kFollowMax = 1.0 / 8;

}  // namespace

void AssembleSound::push(std::span<const float> samples, core::MediaTime time,
                         std::vector<ReadSound>& out) {
  if (samples.empty()) return;
  const auto stamped_us = static_cast<double>(time.us());
  if (!begun_ || time.epoch() != epoch_) {
    if (begun_) pad_block(out);
    next_us_ = begun_ ? std::max(stamped_us, next_us_) : stamped_us;
    epoch_ = time.epoch();
    begun_ = true;
  }
  const double ahead_us = stamped_us - next_us_;
  if (ahead_us > static_cast<double>(kSoundGapUs)) {
    const double fill_us = std::min(ahead_us, static_cast<double>(kSoundGapFillUs));
    append_silence(std::llround(fill_us / kSampleUs), out);
    if (ahead_us > fill_us) pad_block(out);
    next_us_ = std::max(next_us_, stamped_us);
    if (block_.empty()) block_us_ = next_us_;
  } else {
    const double most = static_cast<double>(samples.size()) * kSampleUs * kFollowMax;
    next_us_ += std::clamp(ahead_us * kFollow, -most, most);
  }
  append(samples, false, out);
}

void AssembleSound::finish(std::vector<ReadSound>& out) {
  if (!block_.empty()) emit(out);
  begun_ = false;
}

void AssembleSound::append(std::span<const float> samples, bool silence,
                           std::vector<ReadSound>& out) {
  while (!samples.empty()) {
    if (block_.empty()) {
      block_us_ = next_us_;
      block_silent_ = true;
    }
    const std::size_t take = std::min(samples.size(), kBlock - block_.size());
    block_.insert(block_.end(), samples.begin(),
                  samples.begin() + static_cast<std::ptrdiff_t>(take));
    block_silent_ = block_silent_ && silence;
    next_us_ += static_cast<double>(take) * kSampleUs;
    samples = samples.subspan(take);
    if (block_.size() == kBlock) emit(out);
  }
}

void AssembleSound::append_silence(std::int64_t samples, std::vector<ReadSound>& out) {
  static constexpr std::array<float, kBlock> kSilence{};
  while (samples > 0) {
    const auto take = std::min<std::int64_t>(samples, static_cast<std::int64_t>(kBlock));
    append(std::span(kSilence).first(static_cast<std::size_t>(take)), true, out);
    samples -= take;
  }
}

void AssembleSound::pad_block(std::vector<ReadSound>& out) {
  if (!block_.empty()) append_silence(static_cast<std::int64_t>(kBlock - block_.size()), out);
}

void AssembleSound::emit(std::vector<ReadSound>& out) {
  const std::int64_t us = std::max<std::int64_t>(std::llround(block_us_), last_us_ + 1);
  last_us_ = us;
  out.push_back(ReadSound{.samples = std::move(block_),
                          .time = core::MediaTime::from_us(us, epoch_),
                          .gap = block_silent_,
                          .wall = std::nullopt});
  block_ = {};
  block_.reserve(kBlock);
}

}  // namespace saccade::ingest
