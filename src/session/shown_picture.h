#pragma once
// The newest picture of a stream, small, for whoever looks at it from outside. It is a copy: slots
// of ingest are few, and holding one for a viewer would take it from the stream.
// Limits: kShownSideMax pixels a side; a copy at most every kShownIntervalUs while somebody looks,
// every kShownIdleIntervalUs else.
// Threads: one shows, any takes.
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/clock.h"
#include "core/media_time.h"
#include "core/pixels.h"

namespace saccade::session {

inline constexpr int kShownSideMax = 640;
inline constexpr std::int64_t kShownIntervalUs = 200'000;
inline constexpr std::int64_t kShownIdleIntervalUs = 1'000'000;
inline constexpr std::int64_t kShownWatchedUs = 5'000'000;  // so long after it was taken last

struct ShownPicture {
  std::uint64_t number = 0;  // counts up; the same number is the same picture
  core::MediaTime time;
  int source_width = 0, source_height = 0;  // boxes of events are in these pixels
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // [height][width][3]

  core::PixelView view() const {
    return {rgb.data(), width, height, static_cast<std::ptrdiff_t>(width) * core::kRgbBytes};
  }
};
using ShownPicturePtr = std::shared_ptr<const ShownPicture>;

// Each pixel is the mean of those it stands for; never larger than `source`, which is not empty.
ShownPicture shrink_picture(const core::PixelView& source, int side_max);

class PictureWindow {
 public:
  explicit PictureWindow(const core::Clock& clock) : clock_(clock) {}

  // Copies it, unless the last copy is too young.
  void show(const core::PixelView& picture, core::MediaTime time);
  // Null before the first one.
  ShownPicturePtr take() const;

 private:
  bool due(core::SteadyTime now) const;

  const core::Clock& clock_;
  std::uint64_t shown_ = 0;  // showing thread only, like the next one
  core::SteadyTime copied_;
  mutable std::mutex mutex_;  // guards everything below
  mutable bool watched_ = false;
  mutable core::SteadyTime taken_;
  ShownPicturePtr newest_;
};

}  // namespace saccade::session
