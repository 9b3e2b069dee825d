#pragma once
// The usual pictures of video, 8-bit YUV 4:2:0 and 4:2:2, to packed RGB by libyuv: five times as
// fast as swscale, within 5 levels of what the standards say; chroma is linear between its samples.
// libyuv's constants hold no coefficient above 2, which BT.709 and BT.2020 have in the limited
// range; so that one is stretched to the full one first.
#include <cstdint>
#include <vector>

#include "ingest/av_handles.h"

namespace saccade::ingest {

enum class YuvMatrix { kBt601, kBt709, kBt2020, kOther };

// One thread.
class ConvertVideo {
 public:
  // Whether convert can serve such a picture.
  static bool takes(const AVFrame& frame, YuvMatrix matrix);

  // Writes width x height packed RGB pixels to `to`. `takes` must hold.
  void convert(const AVFrame& frame, YuvMatrix matrix, bool full_range, std::uint8_t* to);

 private:
  std::vector<std::uint8_t> stretched_;  // Y, U and V in the full range
};

}  // namespace saccade::ingest
