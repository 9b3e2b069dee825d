#pragma once
// Pixels as JPEG, for pages that show a stream. Pure.
#include <string>

#include "core/pixels.h"
#include "core/result.h"

namespace saccade::transport {

inline constexpr int kJpegQuality = 80;

// Baseline, 4:2:0. Errors: kInternal (an empty picture, one above 65,500 a side, no memory).
core::Result<std::string> jpeg_of(const core::PixelView& picture);

}  // namespace saccade::transport
