#pragma once
// Resizing bit for bit as the reference processors do (Pillow): weights in 22 bits of a fixed
// point, bytes in between. Always columns before rows, as libmtmd does; the newest Pillow turns
// that round where it is cheaper. Slower than resize_view, which keeps more precision.
#include <cstdint>
#include <vector>

#include "core/pixels.h"

namespace saccade::engine::native {

enum class Filter { kBilinear, kBicubic };

// `view` is not empty, width and height >= 1. Shape of the result: [height][width][3]. Same size =
// an exact copy.
std::vector<std::uint8_t> resample(const core::PixelView& view, int width, int height,
                                   Filter filter);

}  // namespace saccade::engine::native
