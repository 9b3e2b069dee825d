#pragma once
// Which parts of a picture are shown sharp. The grid is fixed for a picture size: tiles never
// slide, so a still part of the picture keeps its pixels and its place, and the cache can hit.
#include <vector>

#include "core/pixels.h"
#include "engine/vision_encoder.h"

namespace saccade::perceive {

struct Tile {
  engine::ViewPlace place;  // 1-based
  core::Rect source;
};

// The tiles of a `width` x `height` picture (both >= 1), row by row; together they cover it without
// overlap. As many as bring out the picture's own pixels in views of `view_side`, at most
// `tile_grid_max` per direction. Empty when the encoder takes no tiles or the global view already
// shows every pixel.
std::vector<Tile> plan_tiles(int width, int height, const engine::VisionTraits& traits);

}  // namespace saccade::perceive
