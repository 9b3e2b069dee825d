#include "engine/native/fit_view.h"

#include <algorithm>
#include <cmath>

#include "engine/native/resample.h"

namespace saccade::engine::native {

PictureSize whole_tokens(PictureSize view, int unit, int tokens_min, int tokens_max) {
  const auto width = static_cast<float>(view.width), height = static_cast<float>(view.height);
  const float side = static_cast<float>(unit);
  const auto up = [&](float x) { return static_cast<int>(std::ceil(x / side)) * unit; };
  const auto down = [&](float x) {
    return std::max(static_cast<int>(std::floor(x / side)) * unit, unit);
  };
  const auto near = [&](float x) {
    return std::max(static_cast<int>(std::round(x / side)) * unit, unit);
  };
  const std::int64_t area = std::int64_t{unit} * unit;
  const auto least = static_cast<float>(area * tokens_min);
  const auto most = static_cast<float>(area * tokens_max);
  const PictureSize out{near(width), near(height)};
  const std::int64_t tokens = std::int64_t{out.width} * out.height / area;
  if (tokens > tokens_max) {
    const float shrink = std::sqrt(height * width / most);
    return {down(width / shrink), down(height / shrink)};
  }
  if (tokens < tokens_min) {
    const float grow = std::sqrt(least / (height * width));
    return {up(width * grow), up(height * grow)};
  }
  return out;
}

std::vector<std::uint8_t> fit_view(const core::PixelView& view, PictureSize size,
                                   std::array<std::uint8_t, core::kRgbBytes> colour) {
  const float scale = std::min(static_cast<float>(size.width) / static_cast<float>(view.width),
                               static_cast<float>(size.height) / static_cast<float>(view.height));
  const auto side = [&](int own, int most) {
    return std::min(static_cast<int>(std::ceil(static_cast<float>(own) * scale)), most);
  };
  const PictureSize inner{side(view.width, size.width), side(view.height, size.height)};
  const auto pixels = resample(view, inner.width, inner.height, Filter::kBicubic);
  if (inner == size) return pixels;
  std::vector<std::uint8_t> out;
  out.reserve(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) *
              core::kRgbBytes);
  for (int i = 0; i < size.width * size.height; ++i) {
    out.insert(out.end(), colour.begin(), colour.end());
  }
  const int left = (size.width - inner.width) / 2, top = (size.height - inner.height) / 2;
  const auto row = static_cast<std::ptrdiff_t>(inner.width) * core::kRgbBytes;
  for (int y = 0; y < inner.height; ++y) {
    std::copy_n(pixels.begin() + y * row, row,
                out.begin() + (std::ptrdiff_t{top + y} * size.width + left) * core::kRgbBytes);
  }
  return out;
}

}  // namespace saccade::engine::native
