#pragma once
// Notices the first picture of a new scene, cheaply enough for every decoded picture: a thumbnail
// of the luma plane is compared with the one before, by mean difference and by histogram.
// A slow fade or a moving object is no cut; two cuts are at least kSceneGapUs apart, so that a
// strobe light cannot defeat the sampling rate.
#include <array>
#include <cstdint>
#include <optional>

#include "core/media_time.h"

struct AVFrame;

namespace saccade::ingest {

inline constexpr int kThumbWidth = 64, kThumbHeight = 36;
inline constexpr std::int64_t kSceneGapUs = 200'000;

using LumaThumb = std::array<std::uint8_t, kThumbWidth * kThumbHeight>;

// Point samples of the luma plane (green for RGB). Nothing for formats without a readable plane.
std::optional<LumaThumb> luma_thumb(const AVFrame& frame);

// One thread.
class DetectScene {
 public:
  // True when `thumb` begins a new scene. The first picture does not.
  bool is_cut(const LumaThumb& thumb, core::MediaTime time);

 private:
  bool begun_ = false;
  LumaThumb last_{};
  double last_change_ = 0;  // mean level difference of the pair before: motion is no cut
  std::optional<core::MediaTime> last_cut_;
};

}  // namespace saccade::ingest
