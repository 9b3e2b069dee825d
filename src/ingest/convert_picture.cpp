#include "ingest/convert_picture.h"

#include <cstddef>

#include "core/limits.h"
#include "ingest/orient_picture.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace saccade::ingest {
namespace {

namespace limits = core::limits;

constexpr int kAspectMax = 8;
// swscale's vector code may write a little beyond the end of a row. A power of two.
constexpr std::size_t kRowPadding = 64;
// Height from which untagged video is taken for BT.709, as players do.
constexpr int kHdHeight = 720;

bool is_full_range(const AVFrame& frame, const AVPixFmtDescriptor& format) {
  if (format.nb_components <= 2) return true;  // grey; swscale knows no limited one
  switch (frame.format) {
    case AV_PIX_FMT_YUVJ411P:
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ440P:
    case AV_PIX_FMT_YUVJ444P:
      return true;
    default:
      return frame.color_range == AVCOL_RANGE_JPEG;
  }
}

// What swscale makes before the picture is turned and laid over the matte. Video goes through
// planes: with full chroma that is three times as fast as swscale's packed RGB, and equal.
AVPixelFormat scaled_format(const AVPixFmtDescriptor& format) {
  // A palette may hold transparent colours.
  if ((format.flags & (AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_PAL)) != 0) return AV_PIX_FMT_RGBA;
  const bool yuv = format.nb_components == 3 && (format.flags & AV_PIX_FMT_FLAG_RGB) == 0;
  return yuv ? AV_PIX_FMT_GBRP : AV_PIX_FMT_RGB24;
}

int matrix_of(const AVFrame& frame) {
  switch (frame.colorspace) {
    case AVCOL_SPC_BT709:
      return SWS_CS_ITU709;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
      return SWS_CS_ITU601;
    case AVCOL_SPC_FCC:
      return SWS_CS_FCC;
    case AVCOL_SPC_SMPTE240M:
      return SWS_CS_SMPTE240M;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return SWS_CS_BT2020;
    default:
      return frame.height >= kHdHeight ? SWS_CS_ITU709 : SWS_CS_ITU601;
  }
}

YuvMatrix yuv_matrix(int matrix) {
  switch (matrix) {
    case SWS_CS_ITU601:
      return YuvMatrix::kBt601;
    case SWS_CS_ITU709:
      return YuvMatrix::kBt709;
    case SWS_CS_BT2020:
      return YuvMatrix::kBt2020;
    default:
      return YuvMatrix::kOther;
  }
}

}  // namespace

PictureSize upright_size(PictureSize coded, const PictureShape& shape) {
  const std::int64_t num = shape.aspect_num, den = shape.aspect_den;
  if (num > 0 && den > 0 && num != den && num <= kAspectMax * den && den <= kAspectMax * num) {
    const std::int64_t width = (coded.width * num + den / 2) / den;
    const bool fits = width >= 1 && width <= limits::kPictureSideMax &&
                      width * coded.height <= limits::kPicturePixelsMax;
    if (fits) coded.width = static_cast<int>(width);
  }
  if (swaps_sides(shape.orientation)) std::swap(coded.width, coded.height);
  return coded;
}

core::Status ConvertPicture::prepare(const Key& key) {
  if (scaler_ && key == key_) return {};
  constexpr int kFlags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP;
  scaler_.reset(sws_getContext(
      key.width, key.height, static_cast<AVPixelFormat>(key.format), key.out_width, key.out_height,
      static_cast<AVPixelFormat>(key.out_format), kFlags, nullptr, nullptr, nullptr));
  if (!scaler_) {
    return core::error(core::ErrorCode::kUnsupported, "this pixel format cannot be converted");
  }
  const int* from = sws_getCoefficients(key.matrix);
  const int* to = sws_getCoefficients(SWS_CS_DEFAULT);
  constexpr int kUnit = 1 << 16;  // contrast and saturation as they are
  sws_setColorspaceDetails(scaler_.get(), from, key.full_range ? 1 : 0, to, 1, 0, kUnit, kUnit);
  key_ = key;
  return {};
}

core::Status ConvertPicture::convert(const AVFrame& frame, const PictureShape& shape,
                                     std::uint8_t* to) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  if (format == nullptr || (format->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0) {
    return core::error(core::ErrorCode::kUnsupported, "this pixel format cannot be converted");
  }
  const AVPixelFormat scaled = scaled_format(*format);
  PictureShape flat = shape;
  flat.orientation = 1;
  const PictureSize size = upright_size({frame.width, frame.height}, flat);
  const bool as_coded =
      shape.orientation == 1 && size.width == frame.width && size.height == frame.height;
  const YuvMatrix matrix = yuv_matrix(matrix_of(frame));
  if (as_coded && ConvertVideo::takes(frame, matrix)) {
    video_.convert(frame, matrix, is_full_range(frame, *format), to);
    return {};
  }
  const auto status = prepare({.width = frame.width,
                               .height = frame.height,
                               .format = frame.format,
                               .out_width = size.width,
                               .out_height = size.height,
                               .out_format = scaled,
                               .matrix = matrix_of(frame),
                               .full_range = is_full_range(frame, *format)});
  if (!status) return status;

  const int pixel_bytes = scaled == AV_PIX_FMT_RGBA ? 4 : (scaled == AV_PIX_FMT_GBRP ? 1 : 3);
  const std::size_t row = static_cast<std::size_t>(size.width) * static_cast<unsigned>(pixel_bytes);
  const std::size_t stride = (row + kRowPadding) & ~(kRowPadding - 1);
  const std::size_t plane = stride * static_cast<std::size_t>(size.height);
  scratch_.resize((scaled == AV_PIX_FMT_GBRP ? 3 * plane : plane) + kRowPadding);
  std::uint8_t* const out = scratch_.data();
  const bool planar = scaled == AV_PIX_FMT_GBRP;
  std::uint8_t* const planes[4] = {out, planar ? out + plane : nullptr,
                                   planar ? out + 2 * plane : nullptr, nullptr};
  const int step = static_cast<int>(stride);
  const int strides[4] = {step, planar ? step : 0, planar ? step : 0, 0};
  if (sws_scale(scaler_.get(), frame.data, frame.linesize, 0, frame.height, planes, strides) < 0) {
    return core::error(core::ErrorCode::kInternal, "the picture could not be scaled");
  }
  RawPicture raw;
  if (planar) {
    raw = {planes[2], planes[0], planes[1], nullptr, step, 1};
  } else {
    raw = scaled == AV_PIX_FMT_RGBA ? packed_rgba(out, step) : packed_rgb(out, step);
  }
  raw.width = size.width;
  raw.height = size.height;
  write_upright(raw, shape.orientation, matte_, to);
  return {};
}

}  // namespace saccade::ingest
