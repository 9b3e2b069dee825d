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

// Borrowed pixels, packed or planar. `alpha` is straight; null = all opaque.
struct RawPicture {
  const std::uint8_t *red = nullptr, *green = nullptr, *blue = nullptr, *alpha = nullptr;
  std::ptrdiff_t stride_bytes = 0;  // from row to row, of every channel
  int pixel_bytes = 1;              // from pixel to pixel
  int width = 0, height = 0;
};
inline RawPicture packed_rgb(const std::uint8_t* data, std::ptrdiff_t stride_bytes) {
  return {data, data + 1, data + 2, nullptr, stride_bytes, 3};
}
inline RawPicture packed_rgba(const std::uint8_t* data, std::ptrdiff_t stride_bytes) {
  return {data, data + 1, data + 2, data + 3, stride_bytes, 4};
}

// Writes packed RGB rows of the upright picture (sides swapped as the orientation demands).
// `matte` is the grey level behind transparent pixels.
void write_upright(const RawPicture& from, int orientation, std::uint8_t matte, std::uint8_t* to);

}  // namespace saccade::ingest
