// A worker that was taken over by hostile media (threats T8, T19): whatever it says, the parent
// stays whole, believes nothing, and ends it.
#include <gtest/gtest.h>

#include <cstring>

#include "ingest/reader_test_support.h"
#include "ingest/source_test_support.h"

namespace saccade::ingest {
namespace {

using core::ErrorCode;

SourceRun run_lie(const std::string& mode, bool keep_pixels = false) {
  const TestFolder folder;
  const std::string text = mode + "\n";
  folder.store("lie.mp4", std::vector<std::uint8_t>(text.begin(), text.end()));
  SourceRun run;
  auto source = open_source(with_lying_worker(folder.path("lie.mp4")));
  if (source) run_source(*source, run, {.seconds_max = 10, .keep_pixels = keep_pixels});
  return run;
}

class LyingWorker : public testing::TestWithParam<const char*> {};

TEST_P(LyingWorker, IsNotBelieved) {
  const int before = open_descriptors();
  const SourceRun run = run_lie(GetParam(), true);
  ASSERT_TRUE(run.error) << "it went on";
  EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable) << run.error->message;
  EXPECT_FALSE(run.ended);
  EXPECT_NE(run.error->message.find("its decoder sent"), std::string::npos) << run.error->message;
  EXPECT_EQ(child_processes(), 0);
  EXPECT_LE(open_descriptors(), before);
}

INSTANTIATE_TEST_SUITE_P(Lies, LyingWorker,
                         testing::Values("garbage", "no-hello", "no-such-slot", "huge-slot",
                                         "no-such-region", "larger-than-slot", "negative-size",
                                         "endless-time", "negative-time", "slot-twice",
                                         "long-sound", "unknown-code"),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(LyingWorkerEffects, BrokenSamplesBecomeSilenceAndStayInRange) {
  const SourceRun run = run_lie("nan-sound");
  ASSERT_EQ(run.sounds.size(), 1u);
  const auto& samples = run.sounds[0].sound()->samples;
  EXPECT_EQ(samples[0], 0.0F);
  EXPECT_EQ(samples[1], 1.0F);
  EXPECT_TRUE(run.ended);
}

TEST(LyingWorkerEffects, TimeNeverGoesBack) {
  const SourceRun run = run_lie("time-back");
  EXPECT_TRUE(run.well_formed());
  EXPECT_EQ(run.pictures.size(), 3u);
  EXPECT_EQ(run.lost(LossKind::kLate), 2u);
}

TEST(LyingWorkerEffects, GrowingPicturesAreBounded) {
  const SourceRun run = run_lie("growing", true);
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kExhausted);
  EXPECT_LE(run.pictures.size(), static_cast<std::size_t>(SlotLender::kRegionsAliveMax));
}

TEST(LyingWorkerEffects, GrowingPicturesThatAreDroppedAreFine) {
  const SourceRun run = run_lie("growing");
  EXPECT_GE(run.pictures.size(), 100u);
}

TEST(LyingWorkerEffects, DescriptorsItPushesAreRefused) {
  const int before = open_descriptors();
  const SourceRun run = run_lie("descriptors");
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.losses.size(), 50u);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(LyingWorkerEffects, ItsTextCannotSteerATerminal) {
  const SourceRun run = run_lie("escape");
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->message, "?[2Jgone\xc2?31m?");
}

TEST(LyingWorkerEffects, CrashesAreCountedAndNamed) {
  const SourceRun run = run_lie("crash");
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable);
  EXPECT_NE(run.error->message.find("the decoder crashed on it"), std::string::npos);
  EXPECT_EQ(child_processes(), 0);
}

TEST(LyingWorkerEffects, HangsEnd) {
  for (const char* mode : {"hang", "spin"}) {
    const SourceRun run = run_lie(mode);
    ASSERT_TRUE(run.error) << mode;
    EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable);
    EXPECT_NE(run.error->message.find("no progress"), std::string::npos);
    EXPECT_EQ(child_processes(), 0);
  }
}

TEST(LyingWorkerEffects, AWorkerThatNeverStartsIsOurFault) {
  const SourceRun run = run_lie("gone");
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kInternal);
  EXPECT_NE(run.error->message.find("exit code 3"), std::string::npos);
}

// Every byte of every message, one after the other.
TEST(WorkerMessage, NoSingleByteBreaksTheParser) {
  wire::Picture picture;
  picture.width = picture.height = 64;
  picture.time = {0, 0, 1};
  ASSERT_TRUE(parse_worker_message(bytes_of(picture)));
  for (std::size_t at = 0; at < sizeof(picture); ++at) {
    for (const int value : {0, 1, 0x7F, 0x80, 0xFF}) {
      wire::Picture broken;
      std::memcpy(&broken, &picture, sizeof(picture));
      reinterpret_cast<unsigned char*>(&broken)[at] = static_cast<unsigned char>(value);
      const auto message = parse_worker_message(bytes_of(broken));
      if (!message) continue;
      const auto& frame = std::get<FrameSent>(*message);
      EXPECT_GE(frame.time.us(), 0);
      const auto& sent = std::get<PictureSent>(frame.payload);
      EXPECT_GE(sent.width, 1);
      EXPECT_LE(sent.width, core::limits::kPictureSideMax);
    }
  }
}

TEST(WorkerMessage, LengthMustFitExactly) {
  wire::Sound sound;
  sound.count = 1;
  sound.time = {0, 0, 1};
  const auto bytes = bytes_of(sound);
  ASSERT_TRUE(parse_worker_message(bytes));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(parse_worker_message(bytes.first(length)));
  }
}

TEST(WorkerMessage, ParentMessagesAreNotTakenFromAWorker) {
  EXPECT_FALSE(parse_worker_message(bytes_of(wire::Region{})));
  EXPECT_FALSE(parse_worker_message(bytes_of(wire::FreeSlot{})));
  EXPECT_FALSE(parse_worker_message(bytes_of(wire::Open{})));
}

}  // namespace
}  // namespace saccade::ingest
