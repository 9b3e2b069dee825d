#pragma once
// Reads the size of a still picture from its header, before anything is decoded, so that a few
// bytes cannot ask for gigabytes; and the EXIF orientation beside it. Pure functions over hostile
// bytes: nothing is trusted, nothing is allocated.
#include <cstdint>
#include <span>
#include <string>

#include "core/result.h"

namespace saccade::ingest {

enum class StillKind { kUnknown, kJpeg, kPng, kBmp, kTiff, kWebp };

struct StillHeader {
  StillKind kind = StillKind::kUnknown;
  std::int64_t width = 0, height = 0;  // as coded; 0 = not found
  int orientation = 1;                 // EXIF, 1..8
  bool complete = false;               // the end mark is there; always true for BMP, TIFF, WebP
};

// Decides by content.
StillHeader probe_still(std::span<const std::uint8_t> bytes);

// Orientation in an EXIF block (a TIFF structure without the "Exif\0\0" in front); 1 when absent.
int exif_orientation(std::span<const std::uint8_t> tiff);

// kMediaUnusable naming value and limit when a picture breaks kPictureSideMax, kPicturePixelsMax or
// kPictureRatioMax, or has no size at all. `name` = the source as messages call it.
core::Status check_picture_size(const std::string& name, std::int64_t width, std::int64_t height);

}  // namespace saccade::ingest
