#pragma once
// Decoded sound of any rate, layout and format -> blocks of 16 kHz mono float in -1..1.
#include <vector>

#include "core/media_time.h"
#include "core/result.h"
#include "ingest/assemble_sound.h"
#include "ingest/av_handles.h"

namespace saccade::ingest {

// One thread. Makes a new resampler when rate, layout or format change.
class ConvertSound {
 public:
  // Appends finished blocks to `out`. Errors: kUnsupported (rate, layout or format).
  core::Status push(const AVFrame& frame, core::MediaTime time, std::vector<ReadSound>& out);
  // What is left in resampler and assembler.
  void finish(std::vector<ReadSound>& out);

 private:
  core::Status prepare(const AVFrame& frame, std::vector<ReadSound>& out);
  int resample(const AVFrame* frame);
  void drain(std::vector<ReadSound>& out);

  SwrHandle resampler_;
  int rate_ = 0, channels_ = 0, format_ = -1;
  unsigned long long layout_mask_ = 0;
  core::MediaTime next_;  // of the sample the resampler gives next
  std::vector<float> samples_;
  AssembleSound assemble_;
};

}  // namespace saccade::ingest
