#pragma once
// Decoded picture -> core/pixels.h: the right matrix (BT.601/709/2020), range and bit depth, square
// pixels, upright, over the matte.
#include <cstdint>
#include <vector>

#include "core/result.h"
#include "ingest/av_handles.h"
#include "ingest/convert_video.h"

namespace saccade::ingest {

// How a decoded picture shall be shown.
struct PictureShape {
  int orientation = 1;                 // EXIF number, see orient_picture.h
  int aspect_num = 1, aspect_den = 1;  // width : height of one pixel as coded
};

struct PictureSize {
  int width = 0, height = 0;
};

// Upright size with square pixels. The width carries the aspect; an aspect that is absent, absurd
// (beyond 1:8 .. 8:1) or leads beyond a limit counts as square.
PictureSize upright_size(PictureSize coded, const PictureShape& shape);

// One thread. Keeps its scaler as long as format and size stay.
class ConvertPicture {
 public:
  explicit ConvertPicture(std::uint8_t matte) : matte_(matte) {}

  // Writes upright_size(frame) packed RGB pixels to `to`. Errors: kUnsupported (pixel format),
  // kInternal (memory).
  core::Status convert(const AVFrame& frame, const PictureShape& shape, std::uint8_t* to);

 private:
  // What the scaler was made for.
  struct Key {
    int width = 0, height = 0, format = -1, out_width = 0, out_height = 0, out_format = -1;
    int matrix = 0;
    bool full_range = false;
    bool operator==(const Key&) const = default;
  };
  core::Status prepare(const Key& key);

  const std::uint8_t matte_;
  ConvertVideo video_;
  Key key_;
  SwsHandle scaler_;
  std::vector<std::uint8_t> scratch_;  // scaled, not yet upright: [height][stride]
};

}  // namespace saccade::ingest
