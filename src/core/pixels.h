#pragma once
// Pictures as every room sees them: 8-bit RGB, sRGB transfer, full range, square pixels, upright,
// rows top to bottom, no alpha. Ingest makes them so; nobody converts again.
#include <cstddef>
#include <cstdint>
#include <memory>

namespace saccade::core {

// Bytes of one pixel.
inline constexpr int kRgbBytes = 3;

// Half-open rectangle in source pixels, origin top left.
struct Rect {
  int x = 0, y = 0, width = 0, height = 0;
  bool empty() const { return width <= 0 || height <= 0; }
  bool operator==(const Rect&) const = default;
};

// The part of `r` inside a width x height picture; empty when there is none.
Rect clip(Rect r, int width, int height);
// Intersection over union of two rectangles, 0..1; 0 when one is empty.
double overlap(Rect a, Rect b);

// Borrowed pixels; the owner must outlive it. Shape [height][width][3], row stride in bytes.
struct PixelView {
  const std::uint8_t* rgb = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t stride_bytes = 0;

  bool empty() const { return rgb == nullptr || width <= 0 || height <= 0; }
  const std::uint8_t* row(int y) const { return rgb + y * stride_bytes; }
  // `r` must lie inside the picture (see clip).
  PixelView crop(Rect r) const {
    return PixelView{row(r.y) + static_cast<std::ptrdiff_t>(r.x) * kRgbBytes, r.width, r.height,
                     stride_bytes};
  }
};

// Shared, immutable pixels in a pooled slot: copying shares the slot, the last copy gives it back.
struct Pixels {
  std::shared_ptr<const std::uint8_t> data;  // [height][stride_bytes]
  int width = 0, height = 0;
  std::ptrdiff_t stride_bytes = 0;

  bool empty() const { return !data; }
  PixelView view() const { return PixelView{data.get(), width, height, stride_bytes}; }
};

}  // namespace saccade::core
