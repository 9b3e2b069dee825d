#include "ingest/detect_scene.h"

#include <gtest/gtest.h>

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>
}

#include <vector>

#include "core/rng.h"
#include "ingest/av_handles.h"

namespace saccade::ingest {
namespace {

LumaThumb flat(int level) {
  LumaThumb thumb;
  thumb.fill(static_cast<std::uint8_t>(level));
  return thumb;
}
// Left part dark, right part light.
LumaThumb split(int column) {
  LumaThumb thumb;
  for (int i = 0; i < kThumbWidth * kThumbHeight; ++i) {
    thumb[static_cast<std::size_t>(i)] = i % kThumbWidth < column ? 40 : 200;
  }
  return thumb;
}
core::MediaTime frame_time(int i) { return core::MediaTime::from_us(i * 40'000); }

TEST(DetectScene, FirstPictureIsNoCutAndAHardChangeIs) {
  DetectScene scene;
  EXPECT_FALSE(scene.is_cut(flat(40), frame_time(0)));
  EXPECT_FALSE(scene.is_cut(flat(40), frame_time(1)));
  EXPECT_TRUE(scene.is_cut(flat(160), frame_time(2)));
  EXPECT_FALSE(scene.is_cut(flat(160), frame_time(3)));
}

TEST(DetectScene, FadeAndMovingEdgeAndNoiseAreNoCuts) {
  DetectScene fade, edge, noise;
  for (int i = 0; i < 64; ++i) EXPECT_FALSE(fade.is_cut(flat(i * 4), frame_time(i)));
  for (int i = 0; i < 60; ++i) EXPECT_FALSE(edge.is_cut(split(i), frame_time(i)));
  core::Rng rng(7);
  for (int i = 0; i < 50; ++i) {
    LumaThumb thumb = split(30);
    for (auto& level : thumb) level = static_cast<std::uint8_t>(level + rng.between(-20, 20));
    EXPECT_FALSE(noise.is_cut(thumb, frame_time(i)));
  }
}

TEST(DetectScene, StrobeGivesAtMostFivePerSecond) {
  DetectScene scene;
  int cuts = 0;
  for (int i = 0; i < 100; ++i) {  // on for two pictures, off for two
    cuts += scene.is_cut(flat(i % 4 < 2 ? 20 : 230), frame_time(i)) ? 1 : 0;
  }
  EXPECT_GE(cuts, 5);
  EXPECT_LE(cuts, 20);
}

TEST(DetectScene, ThumbReadsEveryDepthAlike) {
  struct Case {
    AVPixelFormat format;
    int bytes;
    std::uint16_t sample;
  };
  for (const Case& c :
       {Case{AV_PIX_FMT_YUV420P, 1, 100}, Case{AV_PIX_FMT_NV12, 1, 100},
        Case{AV_PIX_FMT_GRAY8, 1, 100}, Case{AV_PIX_FMT_YUV420P10LE, 2, 400},
        Case{AV_PIX_FMT_P010LE, 2, 400 << 6}, Case{AV_PIX_FMT_GRAY16LE, 2, 25'600}}) {
    const FrameHandle frame(av_frame_alloc());
    frame->format = c.format;
    frame->width = 31;
    frame->height = 17;
    ASSERT_GE(av_frame_get_buffer(frame.get(), 0), 0);
    for (int y = 0; y < 17; ++y) {
      for (int x = 0; x < 31; ++x) {
        std::uint8_t* sample = frame->data[0] + y * frame->linesize[0] + x * c.bytes;
        sample[0] = static_cast<std::uint8_t>(c.sample);
        if (c.bytes == 2) sample[1] = static_cast<std::uint8_t>(c.sample >> 8);
      }
    }
    const auto thumb = luma_thumb(*frame);
    ASSERT_TRUE(thumb);
    EXPECT_EQ(*thumb, flat(100)) << c.format;
  }
}

TEST(DetectScene, PaletteHasNoLuma) {
  const FrameHandle frame(av_frame_alloc());
  frame->format = AV_PIX_FMT_PAL8;
  frame->width = frame->height = 16;
  ASSERT_GE(av_frame_get_buffer(frame.get(), 0), 0);
  EXPECT_FALSE(luma_thumb(*frame));
}

}  // namespace
}  // namespace saccade::ingest
