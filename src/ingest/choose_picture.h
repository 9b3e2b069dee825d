#pragma once
// Which decoded pictures go on, decided before the costly conversion: one per point of a time grid
// that begins at the first picture, and the first picture of a new scene. Pure; one thread.
#include <cstdint>

#include "core/media_time.h"

namespace saccade::ingest {

class ChoosePicture {
 public:
  // `fps` pictures per second of media; 0 = every picture.
  explicit ChoosePicture(double fps) : fps_(fps) {}

  // Pictures in order of time. The first one is always chosen, so even a clip shorter than a grid
  // step gives one; after that the picture nearest to each grid point.
  bool choose(core::MediaTime time, core::MediaDuration duration, bool scene_cut);

 private:
  const double fps_;
  bool begun_ = false;
  std::int64_t first_us_ = 0;
  std::int64_t point_ = 0;  // last grid point served
};

}  // namespace saccade::ingest
