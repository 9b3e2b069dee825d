#pragma once
// Where text stands in a picture: PP-OCR's detector and its post-processing. Boxes are rotated
// rectangles that hold one line each.
#include <cstdint>
#include <vector>

#include "core/limits.h"
#include "core/pixels.h"
#include "core/result.h"
#include "perceive/read/text_models.h"
#include "perceive/read/text_sense.h"

namespace saccade::perceive {

struct DetectOptions {
  // Pictures above this are scaled down for detection (never for recognition). At the default text
  // of 20 px in 720p is found; 960x544 cost half the time but lost letters of small lines.
  std::int64_t pixels_max = core::limits::kReadPixels;
  float pixel_min = 0.3F;  // probability from which a pixel is text
  float score_min = 0.5F;  // mean probability inside a box that is text by itself
  float weak_min = 0.3F;   // the same of a box that only continues another one
  float unclip = 1.6F;     // how far boxes grow: area * unclip / perimeter on each side
  float side_min = 3.0F;   // map pixels; smaller boxes are specks
};

// Boxes in pixels of `view`; at most kTextLinesMax, the best scores win.
core::Result<std::vector<FoundText>> detect_text(TextModels& models, const core::PixelView& view,
                                                 const DetectOptions& options);

// The post-processing alone: boxes in pixels of the map. Pure.
std::vector<FoundText> boxes_from_map(const TextMap& map, const DetectOptions& options);

// A rectangle of `box` grown on all sides by its area * ratio / perimeter.
Quad unclip(const Quad& box, float ratio);

// The smallest upright rectangle around a quad, outward to whole pixels. Corners beyond a picture's
// possible size are clamped.
core::Rect bounds(const Quad& box);

}  // namespace saccade::perceive
