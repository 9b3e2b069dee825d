// What the reader promises to the worker around it: slots, interruption, hostile bytes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "core/frame_pool.h"
#include "core/rng.h"
#include "ingest/reader_test_support.h"

namespace saccade::ingest {
namespace {

using core::ErrorCode;

// Gives the first `count` pictures a place, the others none.
class FewSlots final : public PictureSlots {
 public:
  explicit FewSlots(int count) : left_(count), memory_(64 * 64 * 3) {}
  std::uint8_t* acquire(int width, int height) override {
    EXPECT_EQ(width, 64);
    EXPECT_EQ(height, 64);
    return left_-- > 0 ? memory_.data() : nullptr;
  }

 private:
  int left_;
  std::vector<std::uint8_t> memory_;
};

class ReaderContractTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=10:d=1 -c:v mpeg4 a.mp4"));
    fd = open(folder.path("a.mp4").c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    options.fd = fd;
    options.name = "a.mp4";
  }
  void TearDown() override { close(fd); }

  TestFolder folder;
  core::SystemClock clock;
  ReaderOptions options = every_picture();
  int fd = -1;
};

TEST_F(ReaderContractTest, LiveSourceWithoutASlotLosesThePictureAndSaysSo) {
  FewSlots slots(4);
  options.live = true;
  auto reader = MediaReader::open(options, slots, clock);
  ASSERT_TRUE(reader);
  int pictures = 0, losses = 0;
  for (auto item = (*reader)->read(); item; item = (*reader)->read()) {
    if (std::holds_alternative<EndOfSource>(*item)) break;
    if (std::holds_alternative<ReadPicture>(*item)) ++pictures;
    if (const auto* loss = std::get_if<Loss>(&*item)) {
      EXPECT_EQ(loss->kind, LossKind::kRate);
      EXPECT_TRUE(loss->time.is_set());
      ++losses;
    }
  }
  EXPECT_EQ(pictures, 4);
  EXPECT_EQ(losses, 6);
}

TEST_F(ReaderContractTest, RecordedSourceWithoutASlotIsCancelled) {
  FewSlots slots(2);
  auto reader = MediaReader::open(options, slots, clock);
  ASSERT_TRUE(reader);
  EXPECT_TRUE((*reader)->read());
  EXPECT_TRUE((*reader)->read());
  const auto third = (*reader)->read();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::kCancelled);
}

// Counts the places that are out, and has only one.
class OneSlot final : public PictureSlots {
 public:
  std::uint8_t* acquire(int width, int height) override {
    memory_.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
    return out++ == 0 ? memory_.data() : nullptr;
  }
  int out = 0;

 private:
  std::vector<std::uint8_t> memory_;
};

TEST_F(ReaderContractTest, ACodecThatGivesManyPicturesAtOnceTakesOneSlotAtATime) {
  ASSERT_TRUE(folder.ffmpeg(
      "-f lavfi -i testsrc2=s=64x64:r=10:d=2 -c:v libx264 -bf 16 -b_strategy 0 b.mp4"));
  const int deep = open(folder.path("b.mp4").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(deep, 0);
  options.fd = deep;
  OneSlot slots;
  auto reader = MediaReader::open(options, slots, clock);
  ASSERT_TRUE(reader);
  int pictures = 0;
  for (auto item = (*reader)->read();; item = (*reader)->read()) {
    ASSERT_TRUE(item) << item.error().message;
    if (std::holds_alternative<EndOfSource>(*item)) break;
    ASSERT_TRUE(std::holds_alternative<ReadPicture>(*item));
    ++pictures;
    slots.out = 0;  // taken
  }
  EXPECT_EQ(pictures, 20);
  close(deep);
}

TEST_F(ReaderContractTest, StartGivesEpochAndPositionOfTheFirstPicture) {
  FewSlots slots(100);
  options.start = core::MediaTime::from_us(5'000'000, 7);
  auto reader = MediaReader::open(options, slots, clock);
  ASSERT_TRUE(reader);
  const auto item = (*reader)->read();
  ASSERT_TRUE(item);
  const auto& picture = std::get<ReadPicture>(*item);
  EXPECT_EQ(picture.time.us(), 5'000'000);
  EXPECT_EQ(picture.time.epoch(), 7U);
}

TEST_F(ReaderContractTest, SameFileCanBeReadAgainThroughTheSameDescriptor) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read_fd(fd, options).pictures.size(), 10U);
}

TEST_F(ReaderContractTest, InterruptEndsAReadOfASilentPipe) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  // Everything but the end of a transport stream, then silence.
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=10:d=1 -c:v mpeg2video a.ts"));
  const auto bytes = folder.load("a.ts");
  std::thread writer([&] {
    EXPECT_EQ(write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  });
  // The header is looked for until much was read or the pipe ends, so a second writer keeps on.
  std::thread more([&] {
    writer.join();
    for (int i = 0; i < 100; ++i) {
      if (write(ends[1], bytes.data(), bytes.size()) < 0) break;
    }
  });
  FewSlots slots(1 << 20);
  options.fd = ends[0];
  auto reader = MediaReader::open(options, slots, clock);
  ASSERT_TRUE(reader) << reader.error().message;
  auto result = std::async(std::launch::async, [&] {
    for (;;) {
      auto item = (*reader)->read();
      if (!item) return item.error().code;
      if (std::holds_alternative<EndOfSource>(*item)) return ErrorCode::kClosed;
    }
  });
  more.join();
  (*reader)->interrupt();
  EXPECT_EQ(result.get(), ErrorCode::kCancelled);
  close(ends[0]);
  close(ends[1]);
}

// Whatever is done to the bytes: an orderly end.
TEST(ReaderFaults, MutatedInputsEndWithFramesOrWithOneKnownError) {
  const TestFolder folder;
  const std::string av = "-f lavfi -i testsrc2=s=64x64:r=10:d=0.5 -f lavfi -i sine=d=0.5 ";
  ASSERT_TRUE(folder.ffmpeg(av + "-c:v libx264 -c:a aac a.mp4"));
  ASSERT_TRUE(folder.ffmpeg(av + "-c:v libvpx -cpu-used 8 -c:a libopus a.webm"));
  ASSERT_TRUE(folder.ffmpeg(av + "-c:v mpeg2video -c:a mp2 a.ts"));
  ASSERT_TRUE(folder.ffmpeg(av + "-c:v mjpeg -c:a pcm_s16le a.avi"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i sine=d=0.5 a.flac"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=10:d=0.5 a.gif"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64 -frames:v 1 a.png"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64 -frames:v 1 a.jpg"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64 -frames:v 1 a.tif"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64 -frames:v 1 a.bmp"));
  ASSERT_TRUE(folder.run("convert a.png a.webp"));
  core::Rng rng(20260);
  for (const char* file : {"a.mp4", "a.webm", "a.ts", "a.avi", "a.flac", "a.gif", "a.png", "a.jpg",
                           "a.tif", "a.bmp", "a.webp"}) {
    const auto whole = folder.load(file);
    for (int round = 0; round < 25; ++round) {
      auto bytes = whole;
      const auto reach = static_cast<std::int64_t>(round % 2 == 0 ? bytes.size() : 512);
      for (std::int64_t i = rng.between(1, 12); i > 0; --i) {
        const auto at = rng.between(0, std::min<std::int64_t>(reach, std::ssize(bytes)) - 1);
        bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(rng.next());
      }
      if (round % 5 == 4) bytes.resize(static_cast<std::size_t>(rng.between(0, std::ssize(bytes))));
      folder.store("mutated", bytes);
      auto options = every_picture();
      options.animation_frames_max = 0;
      const auto run = read_file(folder.path("mutated"), options);
      EXPECT_TRUE(run.well_formed()) << file << " " << round;
      if (!run.error) continue;
      const auto code = run.error->code;
      EXPECT_TRUE(code == ErrorCode::kMediaUnusable || code == ErrorCode::kUnsupported)
          << file << " " << round << " " << run.error->message;
    }
  }
}

}  // namespace
}  // namespace saccade::ingest
