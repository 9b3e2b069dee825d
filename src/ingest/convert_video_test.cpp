// libyuv's way against the definition in double precision, with chroma linear between its samples.
#include "ingest/convert_video.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include <libavutil/frame.h>
}

namespace saccade::ingest {
namespace {

// Rounding to 8 bits three times.
constexpr int kLevelsMax = 5;

struct Way {
  const char* name;
  AVPixelFormat format;
  YuvMatrix matrix;
  bool full_range;
};

bool halves_rows(AVPixelFormat format) {
  return format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P;
}

FrameHandle picture(const Way& way, int width, int height) {
  FrameHandle frame(av_frame_alloc());
  frame->format = way.format;
  frame->width = width;
  frame->height = height;
  EXPECT_EQ(0, av_frame_get_buffer(frame.get(), 0));
  const int low = way.full_range ? 0 : 16, luma = way.full_range ? 255 : 219;
  const int chroma_low = way.full_range ? 1 : 16, chroma = way.full_range ? 254 : 224;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      frame->data[0][y * frame->linesize[0] + x] =
          static_cast<std::uint8_t>(low + (x * 7 + y * 13) % (luma + 1));
    }
  }
  const bool rows = halves_rows(way.format);
  const int chroma_height = rows ? (height + 1) / 2 : height;
  for (int y = 0; y < chroma_height; ++y) {
    for (int x = 0; x < (width + 1) / 2; ++x) {
      // Blocks of any colour, with edges between all of them.
      const int block = x / 3 * 37 + y / 5 * 101;
      frame->data[1][y * frame->linesize[1] + x] =
          static_cast<std::uint8_t>(chroma_low + block * 7 % (chroma + 1));
      frame->data[2][y * frame->linesize[2] + x] =
          static_cast<std::uint8_t>(chroma_low + block * 11 % (chroma + 1));
    }
  }
  return frame;
}

// Chroma between its samples, each of which lies in the middle of the pixels it stands for.
double chroma_at(const AVFrame& frame, int plane, int x, int y, bool rows) {
  const int width = (frame.width + 1) / 2, height = rows ? (frame.height + 1) / 2 : frame.height;
  const double cx = std::clamp((x + 0.5) / 2 - 0.5, 0.0, width - 1.0);
  const double cy = rows ? std::clamp((y + 0.5) / 2 - 0.5, 0.0, height - 1.0) : y;
  const int left = static_cast<int>(cx), top = static_cast<int>(cy);
  const int right = std::min(left + 1, width - 1), bottom = std::min(top + 1, height - 1);
  const auto at = [&](int column, int row) {
    return static_cast<double>(frame.data[plane][row * frame.linesize[plane] + column]);
  };
  const double fx = cx - left, fy = cy - top;
  return (at(left, top) * (1 - fx) + at(right, top) * fx) * (1 - fy) +
         (at(left, bottom) * (1 - fx) + at(right, bottom) * fx) * fy;
}

// By the definition: ITU-R BT.601, BT.709, BT.2020.
std::vector<std::uint8_t> by_definition(const AVFrame& frame, const Way& way) {
  const double kr = way.matrix == YuvMatrix::kBt601   ? 0.299
                    : way.matrix == YuvMatrix::kBt709 ? 0.2126
                                                      : 0.2627;
  const double kb = way.matrix == YuvMatrix::kBt601   ? 0.114
                    : way.matrix == YuvMatrix::kBt709 ? 0.0722
                                                      : 0.0593;
  const bool rows = halves_rows(way.format);
  std::vector<std::uint8_t> out;
  for (int y = 0; y < frame.height; ++y) {
    for (int x = 0; x < frame.width; ++x) {
      double luma = frame.data[0][y * frame.linesize[0] + x];
      double u = chroma_at(frame, 1, x, y, rows) - 128, v = chroma_at(frame, 2, x, y, rows) - 128;
      if (!way.full_range) {
        luma = (luma - 16) * 255 / 219;
        u *= 255.0 / 224;
        v *= 255.0 / 224;
      }
      const double red = luma + 2 * (1 - kr) * v, blue = luma + 2 * (1 - kb) * u;
      const double green = (luma - kr * red - kb * blue) / (1 - kr - kb);
      for (const double level : {red, green, blue}) {
        out.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(level, 0.0, 255.0))));
      }
    }
  }
  return out;
}

class ConvertVideoTest : public testing::TestWithParam<Way> {};

TEST_P(ConvertVideoTest, IsWhatTheStandardsSay) {
  const Way& way = GetParam();
  ConvertVideo converter;
  for (const auto& [width, height] : {std::pair{640, 360}, {641, 363}, {16, 16}, {17, 39}}) {
    const auto frame = picture(way, width, height);
    ASSERT_TRUE(ConvertVideo::takes(*frame, way.matrix));
    // Exactly as large as promised: a byte too many is seen by the sanitizer.
    std::vector<std::uint8_t> rgb(static_cast<std::size_t>(width * height * 3));
    converter.convert(*frame, way.matrix, way.full_range, rgb.data());
    const auto wanted = by_definition(*frame, way);
    int worst = 0;
    for (std::size_t i = 0; i < rgb.size(); ++i)
      worst = std::max(worst, std::abs(rgb[i] - wanted[i]));
    EXPECT_LE(worst, kLevelsMax) << width << "x" << height;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ConvertVideoTest,
    testing::Values(Way{"bt601", AV_PIX_FMT_YUV420P, YuvMatrix::kBt601, false},
                    Way{"bt709", AV_PIX_FMT_YUV420P, YuvMatrix::kBt709, false},
                    Way{"bt2020", AV_PIX_FMT_YUV420P, YuvMatrix::kBt2020, false},
                    Way{"full601", AV_PIX_FMT_YUVJ420P, YuvMatrix::kBt601, true},
                    Way{"full709", AV_PIX_FMT_YUV420P, YuvMatrix::kBt709, true},
                    Way{"wide709", AV_PIX_FMT_YUV422P, YuvMatrix::kBt709, false},
                    Way{"wide601", AV_PIX_FMT_YUVJ422P, YuvMatrix::kBt601, true}),
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
