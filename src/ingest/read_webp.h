#pragma once
// WebP by libwebp's animation decoder (FFmpeg 5.1 reads no animated WebP): stills are animations
// of one picture.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/result.h"

namespace saccade::ingest {

// One thread. The bytes given to `open` must outlive it.
class ReadWebp {
 public:
  struct Canvas {
    const std::uint8_t* rgba = nullptr;  // packed, straight alpha; valid until the next call
    int start_ms = 0, end_ms = 0;
  };

  // Null when the bytes are no whole WebP.
  static std::unique_ptr<ReadWebp> open(std::span<const std::uint8_t> bytes);
  virtual ~ReadWebp() = default;
  virtual int width() const = 0;
  virtual int height() const = 0;
  // The next picture as a whole canvas. Nothing at the end or when the rest is broken.
  virtual std::optional<Canvas> next() = 0;
};

}  // namespace saccade::ingest
