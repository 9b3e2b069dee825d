// Right pictures and right time from containers, and what faults may do to them.
#include "ingest/read_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "ingest/reader_test_support.h"

namespace saccade::ingest {
namespace {

using core::ErrorCode;

struct Turn {
  int degrees;
  int width, height;
  // Where the coded picture's top left (red) corner is after turning.
  bool right, bottom;
};
class DisplayMatrixTest : public testing::TestWithParam<Turn> {};

TEST_P(DisplayMatrixTest, PhoneVideoIsUpright) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i color=blue:s=160x96:r=5:d=1 -vf "
                    "drawbox=w=40:h=40:c=red:t=fill -c:v libx264 -pix_fmt yuv420p flat.mp4"));
  const auto turn = GetParam();
  ASSERT_TRUE(folder.ffmpeg(
      "-i flat.mp4 -c copy -metadata:s:v:0 rotate=" + std::to_string(turn.degrees) + " a.mp4"));
  const auto run = read_file(folder.path("a.mp4"));
  ASSERT_FALSE(run.pictures.empty());
  const auto& picture = run.pictures[0];
  ASSERT_EQ(picture.at.width, turn.width);
  ASSERT_EQ(picture.at.height, turn.height);
  EXPECT_EQ(run.info.width, turn.width);
  const auto red =
      picture.pixel(turn.right ? turn.width - 20 : 20, turn.bottom ? turn.height - 20 : 20);
  EXPECT_GT(red[0], 200);
  EXPECT_LT(red[2], 60);
}

// Counter-clockwise degrees, as FFmpeg counts them.
INSTANTIATE_TEST_SUITE_P(Turns, DisplayMatrixTest,
                         testing::Values(Turn{0, 160, 96, false, false},
                                         Turn{90, 96, 160, false, true},
                                         Turn{180, 160, 96, true, true},
                                         Turn{270, 96, 160, true, false}));

TEST(ReadStream, WidePixelsBecomeSquareOnes) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=72x58:r=5:d=1 -vf setsar=16/11 -c:v libx264 a.mp4"));
  const auto run = read_file(folder.path("a.mp4"));
  ASSERT_FALSE(run.pictures.empty());
  EXPECT_EQ(run.pictures[0].at.width, 105);
  EXPECT_EQ(run.pictures[0].at.height, 58);
  EXPECT_EQ(run.info.width, 105);
}

struct Colours {
  const char* matrix;
  const char* range;
  const char* format;
  const char* size;  // untagged video goes by its height
};
std::ostream& operator<<(std::ostream& os, const Colours& c) {
  return os << c.matrix << " " << c.range << " " << c.format << " " << c.size;
}
class ColourTest : public testing::TestWithParam<Colours> {};

TEST_P(ColourTest, RgbIsThatOfSwscale) {
  const TestFolder folder;
  const auto [matrix, range, format, size] = GetParam();
  // The usual format goes through convert_video.h, whose chroma is linear between samples where
  // this truth is cubic: without edges they agree. convert_video_test.cpp has the edges.
  const bool usual = std::string(format) == "yuv420p";
  const std::string soft = usual ? "gblur=sigma=8," : "";
  const std::string space = std::string(matrix);
  const bool tagged = space != "untagged";
  const std::string truth =
      tagged ? space : (std::string(size) == "160x720" ? "bt709" : "smpte170m");
  const std::string names = "in_color_matrix=" + (truth == "smpte170m"  ? std::string("bt601")
                                                  : truth == "bt2020nc" ? std::string("bt2020")
                                                                        : truth);
  std::string made =
      "-f lavfi -i testsrc2=s=" + std::string(size) + ":r=5:d=0.2 -vf " + soft +
      "scale=out_color_matrix=" + names.substr(std::string("in_color_matrix=").size()) +
      ":out_range=" + range + ",format=" + format + " -c:v ffv1 ";
  if (tagged) made += "-colorspace " + space + " ";
  ASSERT_TRUE(folder.ffmpeg(made + "-color_range " + range + " a.mkv"));
  ASSERT_TRUE(
      folder.ffmpeg("-i a.mkv -vf scale=" + names + ":in_range=" + range +
                    ":out_range=full:flags=accurate_rnd+full_chroma_int+full_chroma_inp+bicubic,"
                    "format=rgb24 -frames:v 1 -f rawvideo truth.bin"));
  const auto run = read_file(folder.path("a.mkv"));
  ASSERT_FALSE(run.pictures.empty());
  const auto wanted = folder.load("truth.bin");
  ASSERT_EQ(wanted.size(), run.pictures[0].rgb.size());
  int worst = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    worst = std::max(worst, std::abs(int{wanted[i]} - int{run.pictures[0].rgb[i]}));
  }
  EXPECT_LE(worst, usual ? 5 : 2);
}

INSTANTIATE_TEST_SUITE_P(Tags, ColourTest,
                         testing::Values(Colours{"smpte170m", "tv", "yuv420p", "160x120"},
                                         Colours{"smpte170m", "pc", "yuv420p", "160x120"},
                                         Colours{"bt709", "tv", "yuv420p", "160x120"},
                                         Colours{"bt709", "pc", "yuv420p", "160x120"},
                                         Colours{"smpte170m", "tv", "yuv420p10le", "160x120"},
                                         Colours{"smpte170m", "pc", "yuv420p10le", "160x120"},
                                         Colours{"bt709", "tv", "yuv420p10le", "160x120"},
                                         Colours{"bt709", "pc", "yuv420p10le", "160x120"},
                                         Colours{"bt2020nc", "tv", "yuv420p10le", "160x120"},
                                         Colours{"bt709", "tv", "yuv444p", "150x120"},
                                         Colours{"untagged", "tv", "yuv420p", "160x120"},
                                         Colours{"untagged", "tv", "yuv420p", "160x720"}));

TEST(ReadStream, FullRangeColoursAreTheRightOnes) {
  const TestFolder folder;
  // Known colours, so that a mistake shared with swscale's own defaults would show.
  for (const std::string tags :
       {"bt709:out_range=tv", "bt709:out_range=pc", "bt601:out_range=tv"}) {
    const std::string space = tags.starts_with("bt709") ? "bt709" : "smpte170m";
    const std::string range = tags.substr(tags.size() - 2);
    ASSERT_TRUE(
        folder.ffmpeg("-f lavfi -i color=0x20C040:s=64x64:r=5:d=0.2,format=rgb24 -vf "
                      "scale=out_color_matrix=" +
                      tags +
                      ",format=yuv444p -c:v libx264 -qp 0 "
                      "-colorspace " +
                      space + " -color_range " + range + " a.mp4"));
    const auto run = read_file(folder.path("a.mp4"));
    ASSERT_FALSE(run.pictures.empty());
    const auto pixel = run.pictures[0].pixel(30, 30);
    EXPECT_NEAR(pixel[0], 0x20, 2) << tags;
    EXPECT_NEAR(pixel[1], 0xC0, 2) << tags;
    EXPECT_NEAR(pixel[2], 0x40, 2) << tags;
  }
}

TEST(ReadStream, InterlacedIsSaid) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=160x128:r=50:d=0.4 -vf interlace -c:v mpeg2video "
                    "-flags +ildct+ilme a.ts"));
  const auto run = read_file(folder.path("a.ts"));
  ASSERT_FALSE(run.pictures.empty());
  EXPECT_TRUE(run.pictures[0].at.interlaced);
}

TEST(ReadStream, TimesAreThoseOfFfprobeForVariableRateAndReorderedPictures) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=25:d=4 -vf "
                    "select='not(between(n\\,10\\,60))*not(mod(n\\,3))' -vsync vfr -c:v libx264 "
                    "-bf 3 a.mp4"));
  ASSERT_TRUE(
      folder.run("ffprobe -v error -select_streams v -show_entries "
                 "frame=best_effort_timestamp_time -of csv=p=0 a.mp4 | tr -d ',' > times"));
  const auto text = folder.load("times");
  const std::string lines(text.begin(), text.end());
  std::vector<double> wanted;
  for (const char* at = lines.c_str(); *at != 0;) {
    char* end = nullptr;
    wanted.push_back(std::strtod(at, &end));
    at = *end == '\n' ? end + 1 : end;
    if (end == at) break;
  }
  const auto run = read_file(folder.path("a.mp4"));
  ASSERT_EQ(run.pictures.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(run.pictures[i].at.time.seconds(), wanted[i] - wanted[0], 1e-4);
  }
  EXPECT_TRUE(run.well_formed());
}

TEST(ReadStream, OffsetBetweenSoundAndPicturesIsKept) {
  const TestFolder folder;
  for (const char* file : {"a.mkv", "a.ts", "a.mp4"}) {
    ASSERT_TRUE(
        folder.ffmpeg(std::string("-f lavfi -i testsrc2=s=64x64:r=25:d=2 -itsoffset 0.5 -f lavfi "
                                  "-i sine=d=1 -c:v libx264 -bf 0 -c:a mp2 ") +
                      file));
    const auto run = read_file(folder.path(file));
    ASSERT_FALSE(run.sounds.empty());
    EXPECT_NEAR(run.pictures.front().at.time.seconds(), 0.0, 0.001) << file;
    EXPECT_NEAR(run.sounds.front().time.seconds(), 0.5, 0.06) << file;
  }
}

TEST(ReadStream, EditListCutsAreNotShown) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=25:d=4 -c:v libx264 -g 50 -bf 2 long.mp4"));
  ASSERT_TRUE(folder.ffmpeg("-ss 1 -i long.mp4 -c copy a.mp4"));
  const auto run = read_file(folder.path("a.mp4"));
  ASSERT_FALSE(run.error);
  EXPECT_TRUE(run.well_formed());
  EXPECT_NEAR(static_cast<double>(run.pictures.size()), 75, 1);
  EXPECT_NEAR(run.pictures.front().at.time.seconds(), 0, 0.05);
}

TEST(ReadStream, SizeMayChangeOnTheWay) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=160x120:r=25:d=1 -c:v libx264 -f mpegts a.ts"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=320x240:r=25:d=1 -c:v libx264 -f mpegts b.ts"));
  ASSERT_TRUE(folder.run("cat a.ts b.ts > c.ts"));
  const auto run = read_file(folder.path("c.ts"));
  ASSERT_FALSE(run.error);
  EXPECT_TRUE(run.well_formed());
  const auto of_width = [&](int width) {
    return std::count_if(run.pictures.begin(), run.pictures.end(),
                         [&](const auto& picture) { return picture.at.width == width; });
  };
  // The demuxer may flag the picture at the seam as damaged.
  EXPECT_GE(of_width(160), 24);
  EXPECT_LE(run.lost(LossKind::kCorrupt), 1U);
  EXPECT_EQ(of_width(320), 25);
}

TEST(ReadStream, JumpInATransportStreamIsANewEpochThatGoesOn) {
  const TestFolder folder;
  const std::string coding = " -c:v libx264 -bf 0 -c:a mp2 -f mpegts ";
  const std::string input = "-f lavfi -i testsrc2=s=64x64:r=25:d=2 -f lavfi -i sine=d=2";
  ASSERT_TRUE(folder.ffmpeg(input + coding + "-output_ts_offset 1000 a.ts"));
  ASSERT_TRUE(folder.ffmpeg(input + coding + "-output_ts_offset 50 b.ts"));
  ASSERT_TRUE(folder.run("cat a.ts b.ts > c.ts"));
  const auto run = read_file(folder.path("c.ts"));
  ASSERT_FALSE(run.error);
  EXPECT_TRUE(run.well_formed());
  ASSERT_NEAR(static_cast<double>(run.pictures.size()), 100, 2);
  EXPECT_NEAR(run.pictures.back().at.time.seconds(), 3.96, 0.2);
  EXPECT_EQ(run.pictures.back().at.time.epoch(), 1U);
  EXPECT_EQ(run.sounds.back().time.epoch(), 1U);
  EXPECT_NEAR(run.sounds.back().time.seconds(), 3.98, 0.2);
  EXPECT_NEAR(run.seconds_of_sound(), 4.0, 0.2);
}

TEST(ReadStream, CounterOf33BitsWrapsWithoutATrace) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=25:d=4 -f lavfi -i sine=d=4 -c:v libx264 -bf 2 "
                    "-c:a mp2 -output_ts_offset 95440.7 -f mpegts a.ts"));
  const auto run = read_file(folder.path("a.ts"));
  ASSERT_FALSE(run.error);
  EXPECT_TRUE(run.well_formed());
  EXPECT_EQ(run.pictures.size(), 100U);
  EXPECT_EQ(run.pictures.back().at.time.epoch(), 0U);
  EXPECT_NEAR(run.pictures.back().at.time.seconds() - run.pictures.front().at.time.seconds(), 3.96,
              0.01);
  EXPECT_NEAR(run.sounds.back().time.seconds(), 3.98, 0.1);
}

TEST(ReadStream, OneDamagedPictureIsSkippedAndCounted) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=320x240:r=25:d=4 -c:v libx264 -g 25 -bf 0 a.mp4"));
  ASSERT_TRUE(folder.run(
      "ffprobe -v error -show_entries packet=pos,size -of csv=p=0 a.mp4 | sed -n 31p > at"));
  const auto text = folder.load("at");
  unsigned size = 0, position = 0;
  ASSERT_EQ(std::sscanf(std::string(text.begin(), text.end()).c_str(), "%u,%u", &size, &position),
            2);
  auto bytes = folder.load("a.mp4");
  for (unsigned i = position + size / 3; i < position + size; ++i) bytes[i] ^= 0xA5;
  folder.store("b.mp4", bytes);
  const auto run = read_file(folder.path("b.mp4"));
  ASSERT_FALSE(run.error);
  EXPECT_TRUE(run.well_formed());
  EXPECT_GE(run.lost(LossKind::kCorrupt), 1U);
  EXPECT_GE(run.pictures.size(), 75U);
  EXPECT_LT(run.pictures.size(), 100U);
  EXPECT_NEAR(run.pictures.back().at.time.seconds(), 3.96, 0.01);
}

TEST(ReadStream, GarbageInTheMiddleNeverEndsTheStream) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=25:d=6 -f lavfi -i sine=d=6 -c:v libx264 -g 25 "
      "-c:a aac a.ts"));
  auto bytes = folder.load("a.ts");
  for (std::size_t i = bytes.size() / 3; i < bytes.size() / 2; ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * 2654435761U >> 13);
  }
  folder.store("b.ts", bytes);
  const auto run = read_file(folder.path("b.ts"));
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_TRUE(run.well_formed());
  EXPECT_GT(run.pictures.size(), 75U);
  EXPECT_NEAR(run.pictures.back().at.time.seconds(), 5.96, 0.3);
  EXPECT_GT(run.lost(LossKind::kCorrupt), 0U);
  EXPECT_TRUE(
      std::any_of(run.sounds.begin(), run.sounds.end(), [](const auto& s) { return s.gap; }));
  EXPECT_NEAR(run.sounds.back().time.seconds(), 5.98, 0.3);
}

TEST(ReadStream, TruncatedFilesGiveWhatTheyHaveOrSayThatThereIsNothing) {
  const TestFolder folder;
  const std::string input = "-f lavfi -i testsrc2=s=160x120:r=25:d=4 -f lavfi -i sine=d=4 ";
  ASSERT_TRUE(folder.ffmpeg(input + "-c:v libx264 -g 25 -c:a aac a.mkv"));
  ASSERT_TRUE(folder.ffmpeg(input + "-c:v libx264 -g 25 -c:a aac tail.mp4"));
  ASSERT_TRUE(folder.ffmpeg(input + "-c:v libx264 -g 25 -c:a aac -movflags faststart head.mp4"));
  ASSERT_TRUE(folder.ffmpeg(input + "-c:v libx264 -g 25 -c:a aac a.ts"));
  ASSERT_TRUE(folder.ffmpeg(input + "-c:v mjpeg -c:a pcm_s16le a.avi"));
  for (const char* file : {"a.mkv", "head.mp4", "a.ts", "a.avi"}) {
    auto bytes = folder.load(file);
    bytes.resize(bytes.size() * 6 / 10);
    folder.store(file, bytes);
    const auto run = read_file(folder.path(file));
    EXPECT_FALSE(run.error) << file << ": " << run.error->message;
    EXPECT_TRUE(run.well_formed()) << file;
    EXPECT_GT(run.pictures.size(), 30U) << file;
    EXPECT_LT(run.pictures.size(), 100U) << file;
  }
  auto bytes = folder.load("tail.mp4");
  bytes.resize(bytes.size() * 6 / 10);  // the index was at the end
  folder.store("tail.mp4", bytes);
  const auto run = read_file(folder.path("tail.mp4"));
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable);
}

TEST(ReadStream, GapInSoundIsMarkedSilence) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg(
      "-f lavfi -i sine=d=5 -af aselect='not(between(t\\,2\\,3))' -c:a libopus a.mka"));
  const auto run = read_file(folder.path("a.mka"));
  ASSERT_FALSE(run.error);
  EXPECT_TRUE(run.well_formed());
  EXPECT_NEAR(run.seconds_of_sound(), 5.0, 0.15);
  const auto gaps =
      std::count_if(run.sounds.begin(), run.sounds.end(), [](const auto& s) { return s.gap; });
  EXPECT_NEAR(static_cast<double>(gaps), 49, 4);
}

TEST(ReadStream, PlaylistsAndTextAreRefusedAndNothingElseIsOpened) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:d=1 -c:v mpeg2video secret.ts"));
  const auto put = [&](const char* file, const std::string& text) {
    folder.store(file, {text.begin(), text.end()});
  };
  put("a.mp4", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n" + folder.path("secret.ts") + "\n");
  put("b.avi", "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10.0,\nconcat:" +
                   folder.path("secret.ts") + "\n#EXT-X-ENDLIST\n");
  put("c.txt", "ffconcat version 1.0\nfile " + folder.path("secret.ts") + "\n");
  put("d.mpd",
      "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" "
      "profiles=\"urn:mpeg:dash:profile:isoff-on-demand:2011\"></MPD>");
  put("e.sdp",
      "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP "
      "96\na=rtpmap:96 H264/90000\n");
  put("f.srt", "1\n00:00:00,000 --> 00:00:01,000\nhello\n");
  put("g.svg",
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><image "
      "href=\"/etc/passwd\"/></svg>");
  put("h.m3u8", "#EXTM3U\nfile:///etc/passwd\n");
  for (const char* file :
       {"a.mp4", "b.avi", "c.txt", "d.mpd", "e.sdp", "f.srt", "g.svg", "h.m3u8"}) {
    const auto run = read_file(folder.path(file));
    ASSERT_TRUE(run.error) << file;
    EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable) << file;
  }
  EXPECT_NE(read_file(folder.path("a.mp4")).error->message.find("playlist"), std::string::npos);
}

TEST(ReadStream, CodecOutsideTheListIsUnsupportedByName) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:d=1 -c:v libopenjpeg a.mkv"));
  const auto run = read_file(folder.path("a.mkv"));
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kUnsupported);
  EXPECT_NE(run.error->message.find("jpeg2000"), std::string::npos) << run.error->message;
}

TEST(ReadStream, VideoBombIsRefusedBeforeDecoding) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i color=s=4080x16:r=1:d=1 -c:v libx264 a.mp4"));
  const auto run = read_file(folder.path("a.mp4"));
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable);
  EXPECT_NE(run.error->message.find("4080x16"), std::string::npos) << run.error->message;
}

struct Header {
  const char* name;
  std::uint32_t riff, data;
  bool list, odd;
};
std::ostream& operator<<(std::ostream& os, const Header& header) { return os << header.name; }
class WavHeaderTest : public testing::TestWithParam<Header> {};

TEST_P(WavHeaderTest, IsReadToTheEndOfTheData) {
  const TestFolder folder;
  const auto& h = GetParam();
  std::string extra;
  if (h.list)
    extra +=
        "+ b'LIST' + struct.pack('<I', 26) + b'INFOISFT' + struct.pack('<I', 14) + "
        "b'Lavf59.27.100\\x00'";
  if (h.odd) extra += "+ b'junk' + struct.pack('<I', 3) + b'abc\\x00'";
  ASSERT_TRUE(folder.python(
      "import math\n"
      "d = b''.join(struct.pack('<h', int(8000 * math.sin(i / 5))) for i in range(16000))\n"
      "h = b'RIFF' + struct.pack('<I', " +
      std::to_string(h.riff) +
      ") + b'WAVEfmt ' + "
      "struct.pack('<IHHIIHH', 16, 1, 1, 16000, 32000, 2, 16) " +
      extra +
      "\n"
      "open('a.wav', 'wb').write(h + b'data' + struct.pack('<I', " +
      std::to_string(h.data) + ") + d)"));
  const auto run = read_file(folder.path("a.wav"));
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_TRUE(run.well_formed());
  EXPECT_EQ(run.samples(), 16000U);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, WavHeaderTest,
    testing::Values(Header{"plain", 32036, 32000, false, false},
                    Header{"all ones", 0xFFFFFFFF, 0xFFFFFFFF, false, false},
                    Header{"zero", 0, 0, false, false},
                    Header{"largest int", 0x7FFFFFFF, 0x7FFFFFFF, false, false},
                    Header{"extra list", 32070, 32000, true, false},
                    Header{"odd chunk", 32048, 32000, false, true},
                    Header{"odd chunk and list, streamed", 0xFFFFFFFF, 0xFFFFFFFF, true, true}));

}  // namespace
}  // namespace saccade::ingest
