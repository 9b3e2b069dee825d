#pragma once
// Still pictures (JPEG, PNG, BMP, TIFF, WebP with animation): read whole, size checked from the
// header, decoded once, given upright over the matte. GIF and APNG go the way of videos
// (read_stream.h).
#include <memory>

#include "core/result.h"
#include "ingest/media_reader.h"

struct AVIOContext;

namespace saccade::ingest {

// Largest encoded still that is read into memory.
inline constexpr std::size_t kStillBytesMax = 256U << 20;

// `bytes` is read to its end here and not needed afterwards. Errors: kMediaUnusable (over a limit,
// damaged, cut short), kSourceUnreachable (an address that broke off).
core::Result<std::unique_ptr<MediaReader>> open_still(AVIOContext& bytes, ReaderOptions options,
                                                      PictureSlots& slots);

}  // namespace saccade::ingest
