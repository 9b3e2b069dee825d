#pragma once
// Sizes that towers of free size read, and a view brought to one of them.
#include <array>
#include <cstdint>
#include <vector>

#include "core/pixels.h"

namespace saccade::engine::native {

struct PictureSize {
  int width = 0, height = 0;
  bool operator==(const PictureSize&) const = default;
};

// Sides in whole tokens of `unit` pixels, area between tokens_min and tokens_max, ratio kept as
// well as that allows. Halves are rounded up, as libmtmd does; the family's own processor rounds
// them to even.
PictureSize whole_tokens(PictureSize view, int unit, int tokens_min, int tokens_max);

// The view as large as fits into `size` with its ratio kept, in the middle of a picture of `colour`
// (libmtmd; Qwen's own processor stretches instead). Bicubic.
std::vector<std::uint8_t> fit_view(const core::PixelView& view, PictureSize size,
                                   std::array<std::uint8_t, core::kRgbBytes> colour);

}  // namespace saccade::engine::native
