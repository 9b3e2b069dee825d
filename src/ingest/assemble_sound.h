#pragma once
// Resampled sound of any piece size -> blocks of exactly kAudioBlockSamples with rising times.
// Small differences between counted and stamped time (clock drift) are followed softly, a missing
// stretch becomes marked silence, an overlap is kept: sound is never dropped. Pure; one thread.
#include <cstdint>
#include <span>
#include <vector>

#include "core/media_time.h"
#include "ingest/media_reader.h"

namespace saccade::ingest {

// Stamps this much ahead of the counted samples mean that sound is missing.
inline constexpr std::int64_t kSoundGapUs = 100'000;
// Longest silence put in for it; beyond, time simply goes on at the new position.
inline constexpr std::int64_t kSoundGapFillUs = 10'000'000;

class AssembleSound {
 public:
  // `time` = of the first sample. Appends whole blocks to `out`.
  void push(std::span<const float> samples, core::MediaTime time, std::vector<ReadSound>& out);
  // The rest as a short block. The assembler starts anew afterwards.
  void finish(std::vector<ReadSound>& out);

 private:
  void append(std::span<const float> samples, bool silence, std::vector<ReadSound>& out);
  void append_silence(std::int64_t samples, std::vector<ReadSound>& out);
  void pad_block(std::vector<ReadSound>& out);
  void emit(std::vector<ReadSound>& out);

  bool begun_ = false;
  std::uint32_t epoch_ = 0;
  double next_us_ = 0;                // where the next sample belongs
  double block_us_ = 0;               // where the open block begins
  std::int64_t last_us_ = INT64_MIN;  // time of the block given last
  std::vector<float> block_;          // open block
  bool block_silent_ = true;          // nothing but filled-in silence in it
};

}  // namespace saccade::ingest
