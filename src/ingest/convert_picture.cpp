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
// swscale's vector code may write a little beyond the end of a row.
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
  // A palette may hold transparent colours.
  const bool alpha = (format->flags & (AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_PAL)) != 0;
  PictureShape flat = shape;
  flat.orientation = 1;
  const PictureSize size = upright_size({frame.width, frame.height}, flat);
  const auto status = prepare({.width = frame.width,
                               .height = frame.height,
                               .format = frame.format,
                               .out_width = size.width,
                               .out_height = size.height,
                               .out_format = alpha ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24,
                               .matrix = matrix_of(frame),
                               .full_range = is_full_range(frame, *format)});
  if (!status) return status;

  const int pixel_bytes = alpha ? 4 : 3;
  const bool direct = !alpha && shape.orientation == 1 && size.width % 16 == 0;
  int stride = size.width * pixel_bytes;
  std::uint8_t* out = to;
  if (!direct) {
    stride = static_cast<int>((static_cast<std::size_t>(stride) + kRowPadding) & ~std::size_t{63});
    scratch_.resize(static_cast<std::size_t>(stride) * static_cast<std::size_t>(size.height) +
                    kRowPadding);
    out = scratch_.data();
  }
  std::uint8_t* const planes[4] = {out, nullptr, nullptr, nullptr};
  const int strides[4] = {stride, 0, 0, 0};
  if (sws_scale(scaler_.get(), frame.data, frame.linesize, 0, frame.height, planes, strides) < 0) {
    return core::error(core::ErrorCode::kInternal, "the picture could not be scaled");
  }
  if (!direct) {
    write_upright({out, stride, size.width, size.height, pixel_bytes}, shape.orientation, matte_,
                  to);
  }
  return {};
}

}  // namespace saccade::ingest
