#include "ingest/orient_picture.h"

#include <cstdlib>

namespace saccade::ingest {
namespace {

// Where the upright picture's first pixel lies in the source and how to walk from there.
struct Walk {
  std::ptrdiff_t first = 0, step_x = 0, step_y = 0;  // bytes
  int width = 0, height = 0;
};

Walk plan_walk(const RawPicture& from, int orientation) {
  const std::ptrdiff_t pixel = from.pixel_bytes, row = from.stride_bytes;
  const std::ptrdiff_t right = (from.width - 1) * pixel, bottom = (from.height - 1) * row;
  const int w = from.width, h = from.height;
  switch (orientation) {
    case 2:
      return {right, -pixel, row, w, h};
    case 3:
      return {right + bottom, -pixel, -row, w, h};
    case 4:
      return {bottom, pixel, -row, w, h};
    case 5:
      return {0, row, pixel, h, w};
    case 6:
      return {bottom, -row, pixel, h, w};
    case 7:
      return {right + bottom, -row, -pixel, h, w};
    case 8:
      return {right, row, -pixel, h, w};
    default:
      return {0, pixel, row, w, h};
  }
}

std::uint8_t blend(unsigned colour, unsigned alpha, unsigned matte) {
  return static_cast<std::uint8_t>((colour * alpha + matte * (255 - alpha) + 127) / 255);
}

// One row of planes; a loop of its own so that it becomes vector code.
void interleave(const RawPicture& from, std::ptrdiff_t at, int width, std::uint8_t* to) {
  const std::uint8_t* __restrict red = from.red + at;
  const std::uint8_t* __restrict green = from.green + at;
  const std::uint8_t* __restrict blue = from.blue + at;
  std::uint8_t* __restrict out = to;
  for (std::ptrdiff_t x = 0; x < width; ++x) {
    out[3 * x] = red[x];
    out[3 * x + 1] = green[x];
    out[3 * x + 2] = blue[x];
  }
}

}  // namespace

int orientation_of_matrix(std::span<const std::int32_t, 9> matrix) {
  const std::int64_t a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
  if (std::abs(a) + std::abs(d) >= std::abs(b) + std::abs(c)) {
    if (a == 0 && d == 0) return 1;
    if (a >= 0) return d >= 0 ? 1 : 4;
    return d >= 0 ? 2 : 3;
  }
  if (c >= 0) return b >= 0 ? 5 : 8;
  return b >= 0 ? 6 : 7;
}

void write_upright(const RawPicture& from, int orientation, std::uint8_t matte, std::uint8_t* to) {
  const Walk walk = plan_walk(from, orientation);
  const std::size_t row_bytes = static_cast<std::size_t>(walk.width) * 3;
  for (int y = 0; y < walk.height; ++y, to += row_bytes) {
    std::ptrdiff_t at = walk.first + y * walk.step_y;
    if (from.alpha != nullptr) {
      for (std::size_t x = 0; x < row_bytes; x += 3, at += walk.step_x) {
        to[x] = blend(from.red[at], from.alpha[at], matte);
        to[x + 1] = blend(from.green[at], from.alpha[at], matte);
        to[x + 2] = blend(from.blue[at], from.alpha[at], matte);
      }
    } else if (walk.step_x == 1) {
      interleave(from, at, walk.width, to);
    } else {
      for (std::size_t x = 0; x < row_bytes; x += 3, at += walk.step_x) {
        to[x] = from.red[at];
        to[x + 1] = from.green[at];
        to[x + 2] = from.blue[at];
      }
    }
  }
}

}  // namespace saccade::ingest
