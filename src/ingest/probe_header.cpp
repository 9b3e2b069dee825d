#include "ingest/probe_header.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/limits.h"

namespace saccade::ingest {
namespace {

namespace limits = core::limits;
using Bytes = std::span<const std::uint8_t>;

// Integers of either byte order; 0 beyond the end.
class Numbers {
 public:
  Numbers(Bytes bytes, bool little) : bytes_(bytes), little_(little) {}
  std::uint32_t u16(std::size_t at) const { return read(at, 2); }
  std::uint32_t u32(std::size_t at) const { return read(at, 4); }

 private:
  std::uint32_t read(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | bytes_[little_ ? at + size - 1 - i : at + i];
    }
    return value;
  }
  Bytes bytes_;
  bool little_;
};

bool has(Bytes bytes, std::size_t at, std::string_view text) {
  return at <= bytes.size() && bytes.size() - at >= text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

// The rest of `bytes` from `at`, `size` at most.
Bytes part(Bytes bytes, std::size_t at, std::size_t size = SIZE_MAX) {
  if (at >= bytes.size()) return {};
  return bytes.subspan(at, std::min(size, bytes.size() - at));
}

struct TiffFacts {
  std::int64_t width = 0, height = 0;
  int orientation = 1;
};

// First directory only.
TiffFacts read_tiff(Bytes bytes) {
  constexpr std::uint32_t kWidth = 256, kHeight = 257, kOrientation = 274, kShort = 3, kLong = 4;
  TiffFacts facts;
  const bool little = has(bytes, 0, "II");
  if (!little && !has(bytes, 0, "MM")) return facts;
  const Numbers numbers(bytes, little);
  if (numbers.u16(2) != 42) return facts;
  const std::size_t directory = numbers.u32(4);
  const std::uint32_t entries = numbers.u16(directory);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + std::size_t{12} * i;
    if (at + 12 > bytes.size()) break;
    const std::uint32_t tag = numbers.u16(at), type = numbers.u16(at + 2);
    if (type != kShort && type != kLong) continue;
    const std::uint32_t value = type == kShort ? numbers.u16(at + 8) : numbers.u32(at + 8);
    if (tag == kWidth) facts.width = value;
    if (tag == kHeight) facts.height = value;
    if (tag == kOrientation && value >= 1 && value <= 8) {
      facts.orientation = static_cast<int>(value);
    }
  }
  return facts;
}

bool is_jpeg_size_mark(std::uint8_t mark) {
  return mark >= 0xC0 && mark <= 0xCF && mark != 0xC4 && mark != 0xC8 && mark != 0xCC;
}

// From inside entropy-coded data to the next marker that is none of its own.
std::size_t skip_jpeg_scan(Bytes bytes, std::size_t at) {
  for (; at + 1 < bytes.size(); ++at) {
    if (bytes[at] != 0xFF) continue;
    const std::uint8_t mark = bytes[at + 1];
    if (mark != 0x00 && mark != 0xFF && !(mark >= 0xD0 && mark <= 0xD7)) return at;
  }
  return bytes.size();
}

StillHeader probe_jpeg(Bytes bytes) {
  constexpr std::uint8_t kEnd = 0xD9, kScan = 0xDA, kApp1 = 0xE1;
  StillHeader header{.kind = StillKind::kJpeg};
  const Numbers numbers(bytes, false);
  std::size_t at = 2;
  while (at + 3 < bytes.size() || (at + 1 < bytes.size() && bytes[at + 1] == kEnd)) {
    if (bytes[at] != 0xFF) return header;
    const std::uint8_t mark = bytes[at + 1];
    if (mark == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    if (mark == kEnd) {
      header.complete = true;
      return header;
    }
    const std::size_t size = numbers.u16(at + 2);
    if (size < 2) return header;
    const Bytes body = part(bytes, at + 4, size - 2);
    if (mark == kApp1 && has(body, 0, std::string_view("Exif\0\0", 6))) {
      header.orientation = exif_orientation(part(body, 6));
    }
    if (is_jpeg_size_mark(mark) && header.width == 0) {
      header.height = numbers.u16(at + 5);
      header.width = numbers.u16(at + 7);
    }
    at += 2 + size;
    if (mark == kScan) at = skip_jpeg_scan(bytes, at);
  }
  return header;
}

StillHeader probe_png(Bytes bytes) {
  StillHeader header{.kind = StillKind::kPng};
  const Numbers numbers(bytes, false);
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t size = numbers.u32(at);
    if (has(bytes, at + 4, "IHDR")) {
      header.width = numbers.u32(at + 8);
      header.height = numbers.u32(at + 12);
    } else if (has(bytes, at + 4, "eXIf")) {
      header.orientation = exif_orientation(part(bytes, at + 8, size));
    } else if (has(bytes, at + 4, "IEND")) {
      header.complete = true;
      break;
    }
    at += 12 + size;
  }
  return header;
}

StillHeader probe_bmp(Bytes bytes) {
  StillHeader header{.kind = StillKind::kBmp, .complete = true};
  const Numbers numbers(bytes, true);
  constexpr std::uint32_t kOs2HeaderBytes = 12;
  if (numbers.u32(14) == kOs2HeaderBytes) {
    header.width = numbers.u16(18);
    header.height = numbers.u16(20);
  } else {
    header.width = std::max(0, static_cast<std::int32_t>(numbers.u32(18)));
    const auto height = static_cast<std::int32_t>(numbers.u32(22));  // negative = top down
    header.height = height < 0 ? -std::int64_t{height} : height;
  }
  return header;
}

StillHeader probe_webp(Bytes bytes) {
  StillHeader header{.kind = StillKind::kWebp, .complete = true};
  const Numbers numbers(bytes, true);
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::size_t size = numbers.u32(at + 4);
    const std::size_t body = at + 8;
    if (has(bytes, at, "VP8X")) {
      header.width = (numbers.u32(body + 4) & 0xFFFFFF) + 1;
      header.height = (numbers.u32(body + 6) >> 8) + 1;
    } else if (has(bytes, at, "VP8 ") && header.width == 0) {
      header.width = numbers.u16(body + 6) & 0x3FFF;
      header.height = numbers.u16(body + 8) & 0x3FFF;
    } else if (has(bytes, at, "VP8L") && header.width == 0) {
      const std::uint32_t bits = numbers.u32(body + 1);
      header.width = (bits & 0x3FFF) + 1;
      header.height = ((bits >> 14) & 0x3FFF) + 1;
    } else if (has(bytes, at, "EXIF")) {
      const Bytes exif = part(bytes, body, size);
      const bool prefixed = has(exif, 0, std::string_view("Exif\0\0", 6));
      header.orientation = exif_orientation(prefixed ? part(exif, 6) : exif);
    }
    at = body + size + (size & 1);
  }
  return header;
}

}  // namespace

int exif_orientation(Bytes tiff) { return read_tiff(tiff).orientation; }

StillHeader probe_still(Bytes bytes) {
  if (has(bytes, 0, "\xFF\xD8\xFF")) return probe_jpeg(bytes);
  if (has(bytes, 0, "\x89PNG\r\n\x1A\n")) return probe_png(bytes);
  if (has(bytes, 0, "BM")) return probe_bmp(bytes);
  if (has(bytes, 0, "RIFF") && has(bytes, 8, "WEBP")) return probe_webp(bytes);
  const TiffFacts tiff = read_tiff(bytes);
  if (tiff.width == 0 && tiff.height == 0) return {};
  return {StillKind::kTiff, tiff.width, tiff.height, tiff.orientation, true};
}

core::Status check_picture_size(const std::string& name, std::int64_t width, std::int64_t height) {
  const auto refuse = [&](const std::string& allowed) {
    return core::error(core::ErrorCode::kMediaUnusable,
                       name + ": picture of " + std::to_string(width) + "x" +
                           std::to_string(height) + " pixels; allowed are " + allowed,
                       "scale or crop the picture first");
  };
  if (width < 1 || height < 1) return refuse("sizes from 1x1 on");
  if (std::max(width, height) > limits::kPictureSideMax) {
    return refuse("sides up to " + std::to_string(limits::kPictureSideMax));
  }
  if (width * height > limits::kPicturePixelsMax) {
    return refuse("up to " + std::to_string(limits::kPicturePixelsMax) + " pixels");
  }
  if (std::max(width, height) > limits::kPictureRatioMax * std::min(width, height)) {
    return refuse("sides up to " + std::to_string(limits::kPictureRatioMax) + ":1");
  }
  return {};
}

}  // namespace saccade::ingest
