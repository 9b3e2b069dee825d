#include "engine/kernels/rotate_heads.h"

#include <algorithm>

namespace saccade::engine::kernels {

void rotate_heads(const RotateHeads& work, Share share) {
  const int half = work.size / 2;
  const std::ptrdiff_t width = std::ptrdiff_t{work.heads} * work.size;
  const Range rows = part_of(work.rows, share);
  for (int row = rows.first; row < rows.last; ++row) {
    const float* cosines =
        work.turns + static_cast<std::ptrdiff_t>(row % work.turn_rows) * work.size;
    const float* sines = cosines + half;
    const float* in = work.qkv + row * 3 * width;
    float* out = work.out + row * 3 * width;
    for (int head = 0; head < 2 * work.heads; ++head, in += work.size, out += work.size) {
      for (int i = 0; i < half; ++i) {
        out[i] = in[i] * cosines[i] - in[i + half] * sines[i];
        out[i + half] = in[i] * sines[i] + in[i + half] * cosines[i];
      }
    }
    std::copy_n(in, width, out);
  }
}

}  // namespace saccade::engine::kernels
