// libyuv's way against swscale's with everything on: the same picture within kLevelsMax.
#include "ingest/convert_video.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include <libavutil/frame.h>
#include <libswscale/swscale.h>
}

namespace saccade::ingest {
namespace {

// Rounding to 8 bits three times. Chroma goes smoothly here: at edges bilinear and bicubic differ.
constexpr int kLevelsMax = 5;
constexpr double kPi = 3.14159265358979;

struct Way {
  const char* name;
  AVPixelFormat format;
  YuvMatrix matrix;
  int sws_matrix;
  bool full_range;
};

FrameHandle picture(const Way& way, int width, int height) {
  FrameHandle frame(av_frame_alloc());
  frame->format = way.format;
  frame->width = width;
  frame->height = height;
  EXPECT_EQ(0, av_frame_get_buffer(frame.get(), 0));
  const int low = way.full_range ? 0 : 16, luma = way.full_range ? 255 : 219;
  const double chroma = way.full_range ? 127 : 112;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      frame->data[0][y * frame->linesize[0] + x] =
          static_cast<std::uint8_t>(low + (x * 7 + y * 13) % (luma + 1));
    }
  }
  const bool rows = way.format == AV_PIX_FMT_YUV420P || way.format == AV_PIX_FMT_YUVJ420P;
  const int chroma_height = rows ? (height + 1) / 2 : height;
  for (int y = 0; y < chroma_height; ++y) {
    for (int x = 0; x < (width + 1) / 2; ++x) {
      const double turn = 2 * kPi * (x + y) / 640;
      frame->data[1][y * frame->linesize[1] + x] =
          static_cast<std::uint8_t>(std::lround(128 + chroma * std::sin(turn)));
      frame->data[2][y * frame->linesize[2] + x] =
          static_cast<std::uint8_t>(std::lround(128 + chroma * std::cos(turn * 1.5)));
    }
  }
  return frame;
}

std::vector<std::uint8_t> by_swscale(const AVFrame& frame, const Way& way) {
  const SwsHandle scaler(sws_getContext(
      frame.width, frame.height, way.format, frame.width, frame.height, AV_PIX_FMT_RGB24,
      SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, nullptr, nullptr, nullptr));
  sws_setColorspaceDetails(scaler.get(), sws_getCoefficients(way.sws_matrix), way.full_range,
                           sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16);
  const int stride = (frame.width * 3 + 63) & ~63;
  std::vector<std::uint8_t> padded(static_cast<std::size_t>(stride * frame.height + 64)), out;
  std::uint8_t* const to[4] = {padded.data(), nullptr, nullptr, nullptr};
  const int strides[4] = {stride, 0, 0, 0};
  sws_scale(scaler.get(), frame.data, frame.linesize, 0, frame.height, to, strides);
  for (int y = 0; y < frame.height; ++y) {
    const auto row = padded.begin() + y * stride;
    out.insert(out.end(), row, row + frame.width * 3);
  }
  return out;
}

class ConvertVideoTest : public testing::TestWithParam<Way> {};

TEST_P(ConvertVideoTest, EqualsSwscale) {
  const Way& way = GetParam();
  ConvertVideo converter;
  for (const auto& [width, height] : {std::pair{640, 360}, {641, 363}, {16, 16}, {17, 39}}) {
    const auto frame = picture(way, width, height);
    ASSERT_TRUE(ConvertVideo::takes(*frame, way.matrix));
    // Exactly as large as promised: a byte too many is seen by the sanitizer.
    std::vector<std::uint8_t> rgb(static_cast<std::size_t>(width * height * 3));
    converter.convert(*frame, way.matrix, way.full_range, rgb.data());
    const auto wanted = by_swscale(*frame, way);
    int worst = 0;
    for (std::size_t i = 0; i < rgb.size(); ++i)
      worst = std::max(worst, std::abs(rgb[i] - wanted[i]));
    EXPECT_LE(worst, kLevelsMax) << width << "x" << height;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ConvertVideoTest,
    testing::Values(Way{"bt601", AV_PIX_FMT_YUV420P, YuvMatrix::kBt601, SWS_CS_ITU601, false},
                    Way{"bt709", AV_PIX_FMT_YUV420P, YuvMatrix::kBt709, SWS_CS_ITU709, false},
                    Way{"bt2020", AV_PIX_FMT_YUV420P, YuvMatrix::kBt2020, SWS_CS_BT2020, false},
                    Way{"full601", AV_PIX_FMT_YUVJ420P, YuvMatrix::kBt601, SWS_CS_ITU601, true},
                    Way{"full709", AV_PIX_FMT_YUV420P, YuvMatrix::kBt709, SWS_CS_ITU709, true},
                    Way{"wide709", AV_PIX_FMT_YUV422P, YuvMatrix::kBt709, SWS_CS_ITU709, false},
                    Way{"wide601", AV_PIX_FMT_YUVJ422P, YuvMatrix::kBt601, SWS_CS_ITU601, true}),
    [](const auto& way) { return way.param.name; });

TEST(ConvertVideo, LeavesTheOthersToSwscale) {
  const auto frame = FrameHandle(av_frame_alloc());
  frame->width = frame->height = 64;
  frame->format = AV_PIX_FMT_YUV444P;
  EXPECT_FALSE(ConvertVideo::takes(*frame, YuvMatrix::kBt601));
  frame->format = AV_PIX_FMT_YUV420P;
  EXPECT_TRUE(ConvertVideo::takes(*frame, YuvMatrix::kBt601));
  EXPECT_FALSE(ConvertVideo::takes(*frame, YuvMatrix::kOther));
  frame->width = 15;
  EXPECT_FALSE(ConvertVideo::takes(*frame, YuvMatrix::kBt601));
}

}  // namespace
}  // namespace saccade::ingest
