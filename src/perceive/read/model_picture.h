#pragma once
// Pixels as the two text networks want them: scaled, padded, blue-green-red planes, -1..1.
#include <cstdint>
#include <vector>

#include "core/pixels.h"
#include "perceive/perceive_types.h"
#include "perceive/read/text_models.h"

namespace saccade::perceive {

struct DetectorPicture {
  ModelPicture picture;
  float scale = 1;  // picture pixels per view pixel, at most 1
};

// Scaled down to `pixels_max` when larger, never up; the right and lower edge repeat until both
// sides are multiples of kModelMultiple.
DetectorPicture detector_picture(const core::PixelView& view, std::int64_t pixels_max);

// The line inside a quad, set upright: dense RGB [height][width][3].
struct LinePixels {
  std::vector<std::uint8_t> rgb;
  int width = 0, height = 0;
  float focus = 0;  // 0..1, how sharp it is
};

// Cut out by perspective, so that `box` corner 0 becomes the top left. Empty when the box is.
LinePixels cut_line(const core::PixelView& view, const Quad& box);

// A line wider than kPieceWidthMax model pixels is read in pieces that share kPieceOverlap pixels.
inline constexpr int kPieceWidthMax = 1280;
inline constexpr int kPieceOverlap = 256;
inline constexpr int kLinePiecesMax = 32;  // what lies beyond is squeezed into the last one's place

// The line scaled to kLineHeight rows, cut into pieces, each padded with grey to a rounded width.
// Also how many columns of the recogniser's output are picture and not padding.
struct LinePiece {
  ModelPicture picture;
  int steps = 0;
};
std::vector<LinePiece> line_pieces(const LinePixels& line);

}  // namespace saccade::perceive
