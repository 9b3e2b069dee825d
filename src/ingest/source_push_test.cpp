// A client's pictures and sound through a real decode worker.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "core/limits.h"
#include "ingest/from_push.h"
#include "ingest/source_test_support.h"

namespace saccade::ingest {
namespace {

struct Outcomes final : PushPort::Listener {
  void on_outcome(const PushOutcome& outcome) override { ++ends[outcome.end]; }
  void on_change() override {}
  std::map<PushEnd, int> ends;
};

std::string jpeg(const std::string& size) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("saccade-push-" + std::to_string(getpid()) + "-" + size + ".jpg");
  const std::string command = "ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=" + size +
                              " -frames:v 1 " + path.string();
  EXPECT_EQ(0, std::system(command.c_str()));
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  return bytes;
}

class PushSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    SourceOptions options = with_real_worker("");
    options.push = port;
    source = open_source(options);
    ASSERT_TRUE(source);
    sender = port->attach();
  }
  void send(PushPacket packet) {
    packet.seq = ++seq;
    const auto status = port->offer(sender, std::move(packet));
    EXPECT_TRUE(status) << status.error().message;
  }
  void send_picture(std::string bytes, std::int64_t capture_us) {
    send({.kind = PushKind::kEncoded, .capture_us = capture_us, .bytes = std::move(bytes)});
  }
  // Until so many pictures have an end, in all.
  void serve(SourceRun& run, std::size_t ends) {
    run_source(*source, run, {.seconds_max = 10, .keep_pixels = true, .until = [&](const auto& r) {
                                return r.pictures.size() + r.losses.size() >= ends;
                              }});
  }

  // The newest picture was looked at: its credit and its slot are free again.
  static void release(SourceRun& run) {
    run.pictures.back().receipt->settle(PushEnd::kSeen);
    std::get<Picture>(run.pictures.back().payload).pixels.data.reset();
  }

  std::shared_ptr<Outcomes> outcomes = std::make_shared<Outcomes>();
  std::shared_ptr<PushPort> port = std::make_shared<PushPort>(0, outcomes, test_clock());
  std::unique_ptr<SourceProcess> source;
  std::uint64_t sender = 0, seq = 0;
};

TEST_F(PushSourceTest, PicturesKeepTheClientsTime) {
  const std::string bytes = jpeg("320x240");
  SourceRun run;
  for (int i = 0; i < 5; ++i) {
    send_picture(bytes, 1'700'000'000'000'000 + i * 200'000);
    serve(run, static_cast<std::size_t>(i) + 1);
  }
  ASSERT_EQ(run.pictures.size(), 5U);
  EXPECT_TRUE(run.well_formed());
  for (int i = 0; i < 5; ++i) {
    const Frame& frame = run.pictures[static_cast<std::size_t>(i)];
    EXPECT_EQ(frame.time.us(), 1'000'000 + i * 200'000);
    EXPECT_EQ(frame.picture()->pixels.width, 320);
    ASSERT_TRUE(frame.receipt);
  }
  EXPECT_EQ(run.state_list(), (std::vector{SourceState::kConnecting, SourceState::kUp}));
  run.pictures.clear();
  EXPECT_EQ(outcomes->ends[PushEnd::kLate], 5);  // nobody looked at them
}

TEST_F(PushSourceTest, RawPicturesAreTakenAsTheyAre) {
  std::string rgb(16 * 8 * 3, '\0');
  for (std::size_t i = 0; i < rgb.size(); i += 3) rgb[i] = '\x7F';
  send({.kind = PushKind::kRgb24, .width = 16, .height = 8, .stride = 48, .bytes = rgb});
  SourceRun run;
  serve(run, 1);
  std::string yuv(16 * 8 + 2 * 8 * 4, '\x80');
  send({.kind = PushKind::kI420,
        .capture_us = 1,
        .width = 16,
        .height = 8,
        .stride = 16,
        .bytes = yuv});
  serve(run, 2);
  ASSERT_EQ(run.pictures.size(), 2U);
  const auto first = run.pictures[0].picture()->pixels.view();
  EXPECT_EQ(first.rgb[0], 0x7F);
  EXPECT_EQ(first.rgb[1], 0);
  const auto second = run.pictures[1].picture()->pixels.view();
  EXPECT_NEAR(second.rgb[0], 130, 2);
}

TEST_F(PushSourceTest, BrokenPicturesAreCorruptAndNothingElseHappens) {
  const std::string good = jpeg("160x120");
  SourceRun run;
  std::size_t ends = 0;
  for (const std::string& bad : {std::string("x"), good.substr(0, good.size() / 2),
                                 std::string(1000, '\xFF'), std::string("\x89PNG\r\n\x1a\n")}) {
    send_picture(bad, static_cast<std::int64_t>(ends) * 100'000);
    serve(run, ++ends);
  }
  EXPECT_EQ(run.lost(LossKind::kCorrupt), ends);
  EXPECT_EQ(outcomes->ends[PushEnd::kCorrupt], static_cast<int>(ends));
  send_picture(good, 1'000'000);
  serve(run, ends + 1);
  EXPECT_EQ(run.pictures.size(), 1U);
}

TEST_F(PushSourceTest, SoundComesAsBlocksAndEndsWithTheStream) {
  for (int i = 0; i < 10; ++i) {
    std::string pcm(48'000 / 10 * 2, '\0');
    for (std::size_t s = 0; s + 1 < pcm.size(); s += 4) pcm[s + 1] = '\x20';
    send({.kind = PushKind::kSound, .capture_us = i * 100'000, .rate = 48'000, .bytes = pcm});
  }
  port->finish();
  SourceRun run;
  run_source(*source, run);
  EXPECT_TRUE(run.ended);
  EXPECT_TRUE(run.well_formed());
  std::size_t samples = 0;
  for (const Frame& frame : run.sounds) samples += frame.sound()->samples.size();
  EXPECT_NEAR(static_cast<double>(samples), 16'000, 40);
  EXPECT_EQ(port->accepted().sound_us, 1'000'000);
  EXPECT_EQ(port->granted().sound_us, 1'000'000 + core::limits::kPushSoundUsMax);
}

TEST_F(PushSourceTest, AClockThatJumpsBeginsAnEpochAndTimeGoesOn) {
  const std::string bytes = jpeg("160x120");
  SourceRun run;
  std::size_t ends = 0;
  for (const std::int64_t base : {0LL, 3'600'000'000LL}) {
    for (int i = 0; i < 6; ++i) {
      send_picture(bytes, base + i * 100'000);
      serve(run, ++ends);
      release(run);
    }
  }
  ASSERT_EQ(run.pictures.size(), 12U);
  EXPECT_TRUE(run.well_formed());
  EXPECT_LT(run.pictures.front().time.epoch(), run.pictures.back().time.epoch());
}

TEST_F(PushSourceTest, AWorkerThatDiesIsReplacedAndItsPictureIsCorrupt) {
  const std::string bytes = jpeg("160x120");
  SourceRun run;
  std::size_t sent = 0;
  const auto send_next = [&] { send_picture(bytes, static_cast<std::int64_t>(sent++) * 100'000); };
  send_next();
  serve(run, sent);
  release(run);
  // A worker stopped before it said that it is done with the last picture gets no other: that one
  // goes to its successor, and the next worker is tried.
  for (int i = 0; i < 5 && run.lost(LossKind::kCorrupt) == 0; ++i) {
    kill(source->worker_pid(), SIGSTOP);
    send_next();
    run_source(*source, run, {.seconds_max = 0.1});
    kill(source->worker_pid(), SIGKILL);
    serve(run, sent);
    if (run.lost(LossKind::kCorrupt) == 0) release(run);
  }
  EXPECT_EQ(run.lost(LossKind::kCorrupt), 1U);
  EXPECT_EQ(outcomes->ends[PushEnd::kCorrupt], 1);
  send_next();
  serve(run, sent);
  EXPECT_EQ(run.pictures.size(), sent - 1);
}

// The bound is far above what it takes, so that a busy machine does not fail it.
TEST_F(PushSourceTest, APictureOf720LinesTakesMilliseconds) {
  const std::string bytes = jpeg("1280x720");
  SourceRun run;
  std::vector<double> times_ms;
  for (int i = 0; i < 40; ++i) {
    const core::SteadyTime begin = test_clock().now();
    send_picture(bytes, i * 100'000);
    serve(run, static_cast<std::size_t>(i) + 1);
    times_ms.push_back(core::ms_between(begin, test_clock().now()));
    release(run);
  }
  std::sort(times_ms.begin() + 10, times_ms.end());
  RecordProperty("p50_ms", std::to_string(times_ms[25]));
  EXPECT_LT(times_ms[25], 150);
}

}  // namespace
}  // namespace saccade::ingest
