#include "perceive/see/tile_grid.h"

#include <algorithm>
#include <cstdint>

namespace saccade::perceive {
namespace {

// Where part `index` of `parts` equal parts of `length` begins.
int part_start(int length, int index, int parts) {
  return static_cast<int>(static_cast<std::int64_t>(length) * index / parts);
}

}  // namespace

std::vector<Tile> plan_tiles(int width, int height, const engine::VisionTraits& traits) {
  std::vector<Tile> tiles;
  if (!traits.tiles || traits.view_side <= 0) return tiles;
  const auto parts = [&](int length) {
    const int needed = (length + traits.view_side - 1) / traits.view_side;
    return std::clamp(needed, 1, std::max(1, traits.tile_grid_max));
  };
  const int rows = parts(height), columns = parts(width);
  if (rows == 1 && columns == 1) return tiles;
  for (int row = 0; row < rows; ++row) {
    const int top = part_start(height, row, rows), bottom = part_start(height, row + 1, rows);
    for (int column = 0; column < columns; ++column) {
      const int left = part_start(width, column, columns);
      const int right = part_start(width, column + 1, columns);
      tiles.push_back({{row + 1, column + 1}, {left, top, right - left, bottom - top}});
    }
  }
  return tiles;
}

}  // namespace saccade::perceive
