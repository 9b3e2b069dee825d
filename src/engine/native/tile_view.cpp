#include "engine/native/tile_view.h"

#include <algorithm>
#include <limits>

#include "engine/native/fit_view.h"
#include "engine/native/resample.h"

namespace saccade::engine::native {
namespace {

// Rows that a grid of so many columns may have, first and last; first > last: none.
std::pair<int, int> allowed_rows(int columns, const TileLimits& limits) {
  const int least = (limits.tiles_min + columns - 1) / columns;
  return {std::max(least, limits.tiles_min), limits.tiles_max / columns};
}

}  // namespace

TileGrid choose_grid(int width, int height, const TileLimits& limits) {
  TileGrid best;
  if (width <= limits.side && height <= limits.side) return best;
  const std::int64_t own = std::int64_t{width} * height;
  std::int64_t most_shown = 0, least_wasted = std::numeric_limits<std::int64_t>::max();
  for (int columns = limits.tiles_min; columns <= limits.tiles_max; ++columns) {
    const auto [first, last] = allowed_rows(columns, limits);
    for (int rows = first; rows <= last; ++rows) {
      const int wide = columns * limits.side, high = rows * limits.side;
      const float scale = std::min(static_cast<float>(wide) / static_cast<float>(width),
                                   static_cast<float>(high) / static_cast<float>(height));
      const auto scaled = [scale](int side) {
        return static_cast<std::int64_t>(static_cast<float>(side) * scale);
      };
      const std::int64_t shown = std::min(scaled(width) * scaled(height), own);
      const std::int64_t wasted = std::int64_t{wide} * high - shown;
      if (shown < most_shown || (shown == most_shown && wasted >= least_wasted)) continue;
      most_shown = shown;
      least_wasted = wasted;
      best = {columns, rows};
    }
  }
  return best;
}

std::vector<std::vector<std::uint8_t>> tile_view(const core::PixelView& view,
                                                 const TileLimits& limits) {
  std::vector<std::vector<std::uint8_t>> out;
  const int side = limits.side;
  const TileGrid grid = choose_grid(view.width, view.height, limits);
  if (grid.columns > 0) {
    const PictureSize size{grid.columns * side, grid.rows * side};
    const auto whole = fit_view(view, size, {});
    const auto row = std::ptrdiff_t{core::kRgbBytes} * side;
    for (int tile = 0; tile < grid.columns * grid.rows; ++tile) {
      auto& pixels = out.emplace_back();
      auto from =
          whole.begin() +
          (std::ptrdiff_t{tile / grid.columns} * side * grid.columns + tile % grid.columns) * row;
      for (int y = 0; y < side; ++y, from += row * grid.columns) {
        pixels.insert(pixels.end(), from, from + row);
      }
    }
  }
  out.push_back(resample(view, side, side, Filter::kBicubic));
  return out;
}

}  // namespace saccade::engine::native
