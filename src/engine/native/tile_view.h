#pragma once
// InternVL's dynamic tiles: a picture larger than a tile is stretched over the grid of tiles that
// shows most of its pixels and wastes least, and its tiles are read beside an overview.
// Source: Chen et al., "How far are we to GPT-4V?" (InternVL 1.5), 2024; choice of the grid and
// black bars as in libmtmd, so both engines see the same pixels.
#include <cstdint>
#include <vector>

#include "core/pixels.h"

namespace saccade::engine::native {

struct TileLimits {
  int side = 0;  // pixels of a tile
  int tiles_min = 1, tiles_max = 12;
};
struct TileGrid {
  int columns = 0, rows = 0;
  bool operator==(const TileGrid&) const = default;
};

// 0 x 0 for a view that fits into one tile, or when no grid is allowed.
TileGrid choose_grid(int width, int height, const TileLimits& limits);

// Tiles in reading order, then the overview: [side][side][3] each.
std::vector<std::vector<std::uint8_t>> tile_view(const core::PixelView& view,
                                                 const TileLimits& limits);

}  // namespace saccade::engine::native
