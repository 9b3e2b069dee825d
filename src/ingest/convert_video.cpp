#include "ingest/convert_video.h"

#include <libyuv/convert_argb.h>

#include <algorithm>
#include <cstddef>

extern "C" {
#include <libavutil/frame.h>
}

namespace saccade::ingest {
namespace {

// Smaller ones are no video, and libyuv's filters look at neighbours.
constexpr int kSideMin = 16;

struct Plane {
  const std::uint8_t* data = nullptr;
  int stride = 0;
};

// 16..235 to 0..255; d * (1 + 42/256) is d * 255/219 to a tenth of a level.
std::uint8_t stretch_luma(std::uint8_t level) {
  const auto d = static_cast<std::uint16_t>(level < 16 ? 0 : level - 16);
  const auto out = static_cast<std::uint16_t>(d + ((d * 42 + 128) >> 8));
  return static_cast<std::uint8_t>(out > 255 ? 255 : out);
}

// 16..240 around 128 to 0..255; d * (1 + 71/512) is d * 255/224 to a tenth of a level.
std::uint8_t stretch_chroma(std::uint8_t level) {
  const auto d = static_cast<std::int16_t>(level - 128);
  const auto out = static_cast<std::int16_t>(d + ((d * 71 + 256) >> 9) + 128);
  return static_cast<std::uint8_t>(out < 0 ? 0 : out > 255 ? 255 : out);
}

template <typename Stretch>
Plane stretch(const std::uint8_t* from, std::ptrdiff_t stride, int width, int height,
              std::uint8_t* to, Stretch level) {
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* row = from + y * stride;
    std::uint8_t* out = to + static_cast<std::ptrdiff_t>(y) * width;
    for (int x = 0; x < width; ++x) out[x] = level(row[x]);
  }
  return {to, width};
}

bool halves_rows(int format) {
  return format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P;
}

// With U and V changed over, which makes red of libyuv's blue: R, G, B in memory.
const libyuv::YuvConstants* constants(YuvMatrix matrix) {
  switch (matrix) {
    case YuvMatrix::kBt709:
      return &libyuv::kYvuF709Constants;
    case YuvMatrix::kBt2020:
      return &libyuv::kYvuV2020Constants;
    default:
      return &libyuv::kYvuJPEGConstants;
  }
}

}  // namespace

bool ConvertVideo::takes(const AVFrame& frame, YuvMatrix matrix) {
  const bool halves_columns = halves_rows(frame.format) || frame.format == AV_PIX_FMT_YUV422P ||
                              frame.format == AV_PIX_FMT_YUVJ422P;
  return halves_columns && matrix != YuvMatrix::kOther && frame.width >= kSideMin &&
         frame.height >= kSideMin;
}

void ConvertVideo::convert(const AVFrame& frame, YuvMatrix matrix, bool full_range,
                           std::uint8_t* to) {
  const int width = frame.width, height = frame.height;
  const int chroma_width = (width + 1) / 2;
  const int chroma_height = halves_rows(frame.format) ? (height + 1) / 2 : height;
  Plane y{frame.data[0], frame.linesize[0]};
  Plane u{frame.data[1], frame.linesize[1]}, v{frame.data[2], frame.linesize[2]};
  if (!full_range) {
    const auto luma = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    const auto chroma =
        static_cast<std::size_t>(chroma_width) * static_cast<std::size_t>(chroma_height);
    stretched_.resize(luma + 2 * chroma);
    std::uint8_t* const at = stretched_.data();
    y = stretch(y.data, y.stride, width, height, at, stretch_luma);
    u = stretch(u.data, u.stride, chroma_width, chroma_height, at + luma, stretch_chroma);
    v = stretch(v.data, v.stride, chroma_width, chroma_height, at + luma + chroma, stretch_chroma);
  }
  const auto convert =
      halves_rows(frame.format) ? libyuv::I420ToRGB24MatrixFilter : libyuv::I422ToRGB24MatrixFilter;
  convert(y.data, y.stride, v.data, v.stride, u.data, u.stride, to, width * 3, constants(matrix),
          width, height, libyuv::kFilterBilinear);
}

}  // namespace saccade::ingest
