#include "ingest/choose_picture.h"

#include <algorithm>
#include <cmath>

namespace saccade::ingest {

bool ChoosePicture::choose(core::MediaTime time, core::MediaDuration duration, bool scene_cut) {
  if (fps_ <= 0) return true;
  if (!begun_) {
    begun_ = true;
    first_us_ = time.us();
    return true;
  }
  const double step_us = 1e6 / fps_;
  // A picture serves a grid point that falls into its own second half at the latest.
  const double reach_us = std::min(static_cast<double>(duration.us()), step_us) / 2;
  const double since_us = static_cast<double>(time.us() - first_us_) + std::max(reach_us, 1.0);
  const auto point = static_cast<std::int64_t>(std::floor(since_us / step_us));
  const bool due = point > point_;
  if (due) point_ = point;
  return due || scene_cut;
}

}  // namespace saccade::ingest
