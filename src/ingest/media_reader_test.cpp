// Containers and kinds of sound and video, as users have them.
#include "ingest/media_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "ingest/reader_test_support.h"

namespace saccade::ingest {
namespace {

using core::ErrorCode;

constexpr const char* kAv =
    "-f lavfi -i testsrc2=s=160x120:r=25:d=2 -f lavfi -i sine=440:r=44100:d=2 ";

struct Format {
  const char* file;
  const char* coding;
};
std::ostream& operator<<(std::ostream& os, const Format& format) { return os << format.file; }

class VideoFormatTest : public testing::TestWithParam<Format> {};

TEST_P(VideoFormatTest, GivesAllPicturesAndAllSoundInOrder) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg(kAv + std::string(GetParam().coding) + " " + GetParam().file));
  const auto run = read_file(folder.path(GetParam().file));
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_TRUE(run.well_formed());
  EXPECT_EQ(run.info.width, 160);
  EXPECT_EQ(run.info.height, 120);
  EXPECT_NEAR(static_cast<double>(run.pictures.size()), 50, 1);
  EXPECT_NEAR(run.seconds_of_sound(), 2.0, 0.1);
  EXPECT_TRUE(run.losses.empty());
  ASSERT_FALSE(run.pictures.empty());
  EXPECT_LT(run.pictures.front().at.time.seconds(), 0.1);
  EXPECT_NEAR(run.pictures.back().at.time.seconds(), 1.96, 0.1);
}

INSTANTIATE_TEST_SUITE_P(
    Containers, VideoFormatTest,
    testing::Values(Format{"a.mp4", "-c:v libx264 -c:a aac"},
                    Format{"fragmented.mp4",
                           "-c:v libx264 -c:a aac -movflags frag_keyframe+empty_moov"},
                    Format{"a.mov", "-c:v mpeg4 -c:a pcm_s16le"},
                    Format{"a.mkv", "-c:v libx265 -x265-params log-level=none -c:a flac"},
                    Format{"a.webm", "-c:v libvpx-vp9 -cpu-used 8 -c:a libopus"},
                    Format{"vp8.webm", "-c:v libvpx -cpu-used 8 -c:a libvorbis"},
                    Format{"a.ts", "-c:v mpeg2video -c:a mp2"},
                    Format{"h264.ts", "-c:v libx264 -bf 3 -c:a aac"},
                    Format{"mjpeg.avi", "-c:v mjpeg -c:a pcm_s16le"},
                    Format{"yuyv.avi", "-c:v rawvideo -pix_fmt yuyv422 -c:a pcm_s16le"},
                    Format{"ten.mkv",
                           "-c:v libx265 -x265-params log-level=none -pix_fmt "
                           "yuv420p10le -c:a aac"},
                    Format{"a.wmv", "-c:v wmv2 -c:a wmav2"},
                    Format{"a.flv", "-c:v flv -c:a libmp3lame"},
                    Format{"a.ogv", "-c:v libtheora -c:a libvorbis"}));

class SoundFormatTest : public testing::TestWithParam<Format> {};

TEST_P(SoundFormatTest, GivesTheToneAtSixteenKilohertz) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i sine=440:r=44100:d=2 " + std::string(GetParam().coding) +
                            " " + GetParam().file));
  const auto run = read_file(folder.path(GetParam().file));
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_TRUE(run.well_formed());
  EXPECT_FALSE(run.info.has_video);
  EXPECT_TRUE(run.pictures.empty());
  EXPECT_NEAR(run.seconds_of_sound(), 2.0, 0.08);
  int crossings = 0;  // from clearly below zero to clearly above
  bool below = false;
  for (const auto& block : run.sounds) {
    EXPECT_FALSE(block.gap);
    for (const float sample : block.samples) {
      crossings += (below && sample > 0.02F) ? 1 : 0;
      below = sample < -0.02F || (below && sample <= 0.02F);
    }
  }
  EXPECT_NEAR(crossings, 880, 30);
}

INSTANTIATE_TEST_SUITE_P(
    Sounds, SoundFormatTest,
    testing::Values(Format{"a.wav", ""}, Format{"float.wav", "-c:a pcm_f32le -ar 96000"},
                    Format{"eight.wav", "-c:a pcm_u8 -ar 8000"},
                    Format{"law.wav", "-c:a pcm_mulaw -ar 8000"}, Format{"six.wav", "-ac 6"},
                    Format{"a.mp3", "-ac 2"}, Format{"a.m4a", "-c:a aac"},
                    Format{"alac.m4a", "-c:a alac"}, Format{"a.flac", ""},
                    Format{"a.ogg", "-c:a libvorbis"}, Format{"opus.ogg", "-c:a libopus"},
                    Format{"opus.webm", "-c:a libopus"}, Format{"a.mka", "-c:a ac3"},
                    Format{"a.aac", ""}, Format{"a.aiff", ""}, Format{"a.wma", "-c:a wmav2"}));

TEST(MediaReader, NameDoesNotMatter) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg(std::string(kAv) + "-c:v mpeg4 -c:a aac a.mp4"));
  ASSERT_TRUE(folder.run("mv a.mp4 a.txt"));
  const auto run = read_file(folder.path("a.txt"));
  EXPECT_FALSE(run.error);
  EXPECT_EQ(run.pictures.size(), 50U);
}

TEST(MediaReader, RawH264WithoutContainerIsCountedByDecoding) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=160x120:r=25:d=1 -c:v libx264 -bf 2 a.h264"));
  const auto run = read_file(folder.path("a.h264"));
  ASSERT_FALSE(run.error);
  EXPECT_TRUE(run.well_formed());
  EXPECT_EQ(run.pictures.size(), 25U);
  EXPECT_NEAR(run.pictures.back().at.time.seconds(), 0.96, 0.05);
}

TEST(MediaReader, MjpegAviWithoutIndexIsCountedByDecoding) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=160x120:r=10:d=2 -c:v mjpeg full.avi"));
  auto bytes = folder.load("full.avi");
  const std::string tag = "idx1";
  const auto index = std::search(bytes.begin(), bytes.end(), tag.begin(), tag.end());
  ASSERT_NE(index, bytes.end());
  bytes.erase(index, bytes.end());
  folder.store("cut.avi", bytes);
  const auto run = read_file(folder.path("cut.avi"));
  ASSERT_FALSE(run.error);
  EXPECT_EQ(run.pictures.size(), 20U);
}

TEST(MediaReader, CoverPictureOfAnMp3IsNoVideo) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i color=red:s=300x300 -frames:v 1 cover.jpg"));
  ASSERT_TRUE(folder.ffmpeg(
      "-f lavfi -i sine=d=1 -i cover.jpg -map 0 -map 1 -c:v copy -id3v2_version 3 a.mp3"));
  const auto run = read_file(folder.path("a.mp3"));
  ASSERT_FALSE(run.error);
  EXPECT_FALSE(run.info.has_video);
  EXPECT_TRUE(run.pictures.empty());
  EXPECT_NEAR(run.seconds_of_sound(), 1.0, 0.08);
}

TEST(MediaReader, VideoWithoutSoundAndSoundWithoutVideoAndSoundThatEndsEarly) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=10:d=1 -c:v libx264 mute.mp4"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i sine=d=1 -c:a aac blind.mkv"));
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=10:d=3 -f lavfi -i sine=d=1 -c:v libx264 "
                    "-c:a aac short.mp4"));
  const auto mute = read_file(folder.path("mute.mp4"));
  EXPECT_FALSE(mute.error);
  EXPECT_FALSE(mute.info.has_audio);
  EXPECT_EQ(mute.pictures.size(), 10U);
  const auto blind = read_file(folder.path("blind.mkv"));
  EXPECT_FALSE(blind.error);
  EXPECT_FALSE(blind.info.has_video);
  EXPECT_GT(blind.sounds.size(), 45U);
  const auto early = read_file(folder.path("short.mp4"));
  EXPECT_FALSE(early.error);
  EXPECT_EQ(early.pictures.size(), 30U);
  EXPECT_NEAR(early.seconds_of_sound(), 1.0, 0.1);
}

TEST(MediaReader, UnwantedKindIsLeftOut) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg(std::string(kAv) + "-c:v mpeg4 -c:a aac a.mp4"));
  auto options = every_picture();
  options.want_audio = false;
  EXPECT_TRUE(read_file(folder.path("a.mp4"), options).sounds.empty());
  options.want_audio = true;
  options.want_video = false;
  const auto heard = read_file(folder.path("a.mp4"), options);
  EXPECT_TRUE(heard.pictures.empty());
  EXPECT_FALSE(heard.sounds.empty());
}

TEST(MediaReader, PipeIsReadOnceInOrder) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg(std::string(kAv) + "-c:v libx264 -c:a aac a.mkv"));
  FILE* pipe = popen(("cat " + folder.path("a.mkv")).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  auto options = every_picture();
  options.name = "-";
  const auto run = read_fd(fileno(pipe), options);
  pclose(pipe);
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.pictures.size(), 50U);
}

TEST(MediaReader, OneInFiveOnTheGridAndShortClipsStillGiveOne) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=25:d=2 -c:v libx264 a.mp4"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=25:d=0.3 -c:v libx264 short.mp4"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=25 -frames:v 1 -c:v libx264 one.mp4"));
  ReaderOptions options;
  options.fps = 5;
  options.scene_cuts = false;
  const auto run = read_file(folder.path("a.mp4"), options);
  ASSERT_EQ(run.pictures.size(), 10U);
  for (std::size_t i = 0; i < run.pictures.size(); ++i) {
    EXPECT_EQ(run.pictures[i].at.time.us(), static_cast<std::int64_t>(i) * 200'000);
  }
  options.fps = 1;
  EXPECT_EQ(read_file(folder.path("short.mp4"), options).pictures.size(), 1U);
  EXPECT_EQ(read_file(folder.path("one.mp4"), options).pictures.size(), 1U);
}

TEST(MediaReader, SceneCutsAreGivenBesidesTheGrid) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=160x120:r=25:d=1.32 -f lavfi -i "
                    "mandelbrot=s=160x120:r=25 -filter_complex "
                    "[1]trim=duration=1.48[b],[0][b]concat -c:v libx264 -t 2.8 a.mp4"));
  ReaderOptions options;
  options.fps = 1;
  const auto run = read_file(folder.path("a.mp4"), options);
  ASSERT_FALSE(run.error);
  std::vector<double> cuts;
  for (const auto& picture : run.pictures) {
    if (picture.at.scene_cut) cuts.push_back(picture.at.time.seconds());
  }
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_NEAR(cuts[0], 1.32, 0.001);
  EXPECT_EQ(run.pictures.size(), 4U);
}

TEST(MediaReader, OptionsOutsideTheirRangeAreRefused) {
  ReaderOptions options;
  options.fps = -1;
  const auto run = read_fd(0, options);
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace saccade::ingest
