#pragma once
// Rotary positions of vision towers: each row of queries and keys is turned by angles of its place.
// Source: Su et al., "RoFormer: enhanced transformer with rotary position embedding", 2021; in two
// dimensions as in Wang et al., "Qwen2-VL", 2024. The caller makes the angles.
// Threads: any; workers with different shares write different rows.
#include "engine/kernels/packed.h"

namespace saccade::engine::kernels {

// Rows of [query | key | value], each heads * size wide. Row r is turned by row r % turn_rows of
// `turns`, which holds size / 2 cosines and then as many sines; pair i is elements i and
// i + size / 2 of a head. Values are copied.
struct RotateHeads {
  int heads = 0, size = 0, rows = 0, turn_rows = 0;
  const float* qkv = nullptr;
  const float* turns = nullptr;
  float* out = nullptr;
};
void rotate_heads(const RotateHeads& work, Share share);

}  // namespace saccade::engine::kernels
