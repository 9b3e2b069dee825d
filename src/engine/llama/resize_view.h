#pragma once
// Resizing one view to what a vision tower reads.
#include <cstdint>
#include <vector>

#include "core/pixels.h"

namespace saccade::engine::llama {

// Separable Lanczos (three lobes) with the support widened when shrinking, so nothing aliases; the
// same filter as the reference processors. The aspect ratio is not kept. `view` is not empty,
// width and height >= 1. Shape of the result: [height][width][3]. Same size = an exact copy.
std::vector<std::uint8_t> resize_view(const core::PixelView& view, int width, int height);

}  // namespace saccade::engine::llama
