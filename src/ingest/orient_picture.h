#pragma once
// The last step to core/pixels.h: turns a picture upright and lays it over the matte.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace saccade::ingest {

// Orientations are EXIF numbers: 1 upright, 3 half turn, 6 needs a quarter turn clockwise, 8 one
// counter-clockwise; 2, 4, 5, 7 are mirrored.
constexpr bool swaps_sides(int orientation) { return orientation >= 5; }

// The orientation of a 3x3 display matrix as MP4 and FFmpeg have it (16.16 fixed point, row-major):
// the nearest of the eight. Anything degenerate is 1.
int orientation_of_matrix(std::span<const std::int32_t, 9> matrix);

struct RawPicture {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t stride_bytes = 0;
  int width = 0, height = 0;
  int pixel_bytes = 3;  // 3 = RGB, 4 = RGBA with straight alpha
};

// Writes packed RGB rows of the upright picture (sides swapped as the orientation demands).
// `matte` is the grey level behind transparent pixels.
void write_upright(const RawPicture& from, int orientation, std::uint8_t matte, std::uint8_t* to);

}  // namespace saccade::ingest
