#pragma once
// Where the tokens of a picture stand in a prompt. On one axis they follow each other. On three
// axes (M-RoPE) all stand at the same time, each in its row and column, and text goes on behind the
// longer side: Wang et al., "Qwen2-VL", 2024. A video is a series of such pictures. Tokens that are
// left out leave gaps: what stays and what follows stands where it would stand with them.
#include <vector>

#include "engine/position.h"
#include "engine/vision_encoder.h"

namespace saccade::engine::native {

struct PlacedSpan {
  std::vector<Position> tokens;
  std::int32_t next = 0;  // position of what follows
};
PlacedSpan place_span(const VisualSpan& span, std::int32_t first, bool axes);

}  // namespace saccade::engine::native
