#include "session/shown_picture.h"

#include <algorithm>
#include <array>
#include <utility>

namespace saccade::session {
namespace {

// Where the source pixels of `index` begin, of `to` that stand for `from`.
int begin_of(int index, int from, int to) {
  return static_cast<int>(static_cast<std::int64_t>(index) * from / to);
}

}  // namespace

ShownPicture shrink_picture(const core::PixelView& source, int side_max) {
  ShownPicture out;
  out.source_width = source.width;
  out.source_height = source.height;
  const int side = std::max(source.width, source.height);
  const auto fit = [&](int length) {
    if (side <= side_max) return length;
    return std::max(1, static_cast<int>(static_cast<std::int64_t>(length) * side_max / side));
  };
  out.width = fit(source.width);
  out.height = fit(source.height);
  out.rgb.reserve(static_cast<std::size_t>(out.width) * out.height * core::kRgbBytes);
  for (int y = 0; y < out.height; ++y) {
    const int top = begin_of(y, source.height, out.height);
    const int bottom = begin_of(y + 1, source.height, out.height);
    for (int x = 0; x < out.width; ++x) {
      const int left = begin_of(x, source.width, out.width);
      const int right = begin_of(x + 1, source.width, out.width);
      std::array<std::uint32_t, core::kRgbBytes> sum{};
      for (int row = top; row < bottom; ++row) {
        const std::uint8_t* at = source.row(row) + std::ptrdiff_t{left} * core::kRgbBytes;
        for (int column = left; column < right; ++column, at += core::kRgbBytes) {
          sum[0] += at[0];
          sum[1] += at[1];
          sum[2] += at[2];
        }
      }
      const auto count = static_cast<std::uint32_t>((bottom - top) * (right - left));
      for (const std::uint32_t value : sum) {
        out.rgb.push_back(static_cast<std::uint8_t>((value + count / 2) / count));
      }
    }
  }
  return out;
}

bool PictureWindow::due(core::SteadyTime now) const {
  if (shown_ == 0) return true;
  const std::lock_guard lock(mutex_);
  const bool watched = watched_ && core::us_between(taken_, now) < kShownWatchedUs;
  return core::us_between(copied_, now) >= (watched ? kShownIntervalUs : kShownIdleIntervalUs);
}

void PictureWindow::show(const core::PixelView& picture, core::MediaTime time) {
  const core::SteadyTime now = clock_.now();
  if (picture.empty() || !due(now)) return;
  auto copy = std::make_shared<ShownPicture>(shrink_picture(picture, kShownSideMax));
  copy->number = ++shown_;
  copy->time = time;
  copied_ = now;
  const std::lock_guard lock(mutex_);
  newest_ = std::move(copy);
}

ShownPicturePtr PictureWindow::take() const {
  const core::SteadyTime now = clock_.now();
  const std::lock_guard lock(mutex_);
  watched_ = true;
  taken_ = now;
  return newest_;
}

}  // namespace saccade::session
