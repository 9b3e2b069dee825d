#pragma once
// Which parts of a picture are looked at after a change, so that no line is cut in half and as
// little as possible is looked at twice. Pure.
#include <cstddef>
#include <span>
#include <vector>

#include "core/pixels.h"
#include "perceive/read/track_text.h"

namespace saccade::perceive {

// Changed places kept apart; more are replaced by one rectangle around them all.
inline constexpr std::size_t kAreasMax = 64;

struct PictureSize {
  int width = 0, height = 0;
  bool operator==(const PictureSize&) const = default;
};

// Adds a change to those not yet read. What it covers is as new as it.
void add_area(std::vector<DatedArea>& areas, const DatedArea& added);

// The areas and the boxes of known lines they touch: a line is read whole or not at all.
std::vector<DatedArea> with_touched_lines(std::vector<DatedArea> areas,
                                          std::span<const core::Rect> lines);

// Disjoint crops that hold all areas with a margin for the detector to see their surroundings.
// Sides are rounded up so that few different sizes occur. One crop of the whole picture when most
// of it would be looked at anyway.
std::vector<core::Rect> plan_crops(std::span<const DatedArea> areas, PictureSize picture);

// `crop` grown towards each of its borders that `line` reaches, except the picture's own; the same
// crop when the line lies well inside.
core::Rect grown_around(const core::Rect& crop, const core::Rect& line, PictureSize picture);

}  // namespace saccade::perceive
