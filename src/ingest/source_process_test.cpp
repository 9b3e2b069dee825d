// Recorded sources end to end: real media through a real decode worker, and what happens when the
// worker is killed, stopped or closed.
#include "ingest/source_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>

#include "ingest/reader_test_support.h"
#include "ingest/source_test_support.h"

namespace saccade::ingest {
namespace {

using core::ErrorCode;

// 4 s of moving picture with a tone; made once.
const std::string& clip() {
  static const TestFolder kFolder;
  static const std::string kPath = [] {
    EXPECT_TRUE(
        kFolder.ffmpeg("-f lavfi -i testsrc=s=320x240:r=25:d=4 -f lavfi -i sine=f=440:d=4 "
                       "-c:v libx264 -bf 2 -pix_fmt yuv420p -c:a aac clip.mp4"));
    return kFolder.path("clip.mp4");
  }();
  return kPath;
}

TEST(SourceProcess, AFileWithPictureAndSoundComesThroughWhole) {
  auto source = open_source(with_real_worker(clip()));
  ASSERT_TRUE(source);
  EXPECT_FALSE(source->live());
  SourceRun run;
  run_source(*source, run);
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kClosed);
  EXPECT_TRUE(run.ended);
  ASSERT_TRUE(run.info);
  EXPECT_EQ(run.info->width, 320);
  EXPECT_EQ(run.info->height, 240);
  EXPECT_EQ(run.info->video_codec, "h264");
  EXPECT_NEAR(run.info->duration.seconds(), 4.0, 0.1);
  EXPECT_NEAR(static_cast<double>(run.pictures.size()), 20, 1);
  EXPECT_NEAR(static_cast<double>(run.sounds.size()), 200, 4);
  EXPECT_TRUE(run.well_formed());
  EXPECT_TRUE(run.states.empty());
  EXPECT_EQ(source->worker_pid(), -1) << "nothing runs on after the end";
}

TEST(SourceProcess, PixelsOutliveTheSource) {
  auto source = open_source(with_real_worker(clip()));
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.keep_pixels = true, .until = [](const SourceRun& r) {
                              return r.pictures.size() >= 8;
                            }});
  ASSERT_EQ(run.pictures.size(), 8u) << "eight slots may be out at a time";
  source.reset();
  std::thread([&run] {  // another thread reads and drops
    std::uint64_t sum = 0;
    for (const Frame& frame : run.pictures) {
      const auto view = frame.picture()->pixels.view();
      for (int y = 0; y < view.height; ++y) sum += view.row(y)[view.width];
    }
    EXPECT_GT(sum, 0u);
    run.pictures.clear();
  })
      .join();
}

TEST(SourceProcess, APictureInUseHoldsTheDecoderBackAndLosesNothing) {
  SourceOptions options = with_real_worker(clip());
  options.want_audio = false;
  options.fps = 0;
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun held;
  run_source(*source, held, {.seconds_max = 1, .keep_pixels = true});
  EXPECT_EQ(held.pictures.size(), core::limits::kFrameSlots);
  EXPECT_FALSE(held.error) << "a slow taker is no fault";
  held.pictures.clear();
  SourceRun rest;
  run_source(*source, rest);
  EXPECT_TRUE(rest.ended);
  EXPECT_EQ(rest.pictures.size(), 100 - core::limits::kFrameSlots);
  EXPECT_EQ(rest.lost(LossKind::kRate), 0u);
}

// Above 4 megapixels three slots are all there are, and the codec gives sixteen pictures at once
// when its input ends.
TEST(SourceProcess, LargePicturesWithDeepReorderingComeThroughWhole) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=4096x2304:r=25 -frames:v 20 -pix_fmt yuv420p "
                    "-c:v libx264 -preset ultrafast -bf 3 -b_strategy 0 a.h264"));
  const std::string script = std::filesystem::current_path() / "tests/e2e/deepen.py";
  ASSERT_TRUE(folder.run("python3 " + script + " a.h264 b.h264"));
  SourceOptions options = with_real_worker(folder.path("b.h264"));
  options.fps = 0;
  options.scene_cuts = false;
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.seconds_max = 120});
  EXPECT_TRUE(run.ended) << (run.error ? run.error->message : "");
  EXPECT_EQ(run.pictures.size(), 20u);
  EXPECT_TRUE(run.well_formed());
  EXPECT_TRUE(run.states.empty()) << "no worker was lost";
}

// T8, F12.
TEST(SourceProcess, AKilledWorkerIsReplacedAndNothingIsGivenTwice) {
  SourceOptions options = with_real_worker(clip());
  options.fps = 0;
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.until = [](const SourceRun& r) { return r.pictures.size() >= 30; }});
  ASSERT_GT(source->worker_pid(), 0);
  ASSERT_EQ(kill(source->worker_pid(), SIGSEGV), 0);
  run_source(*source, run);
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.pictures.size(), 100u);
  EXPECT_NEAR(static_cast<double>(run.sounds.size()), 200, 4);
  EXPECT_TRUE(run.well_formed());
  ASSERT_EQ(run.state_list(), (std::vector{SourceState::kConnecting, SourceState::kUp}));
  EXPECT_NE(run.states[0].reason.find("the decoder crashed on it"), std::string::npos);
}

TEST(SourceProcess, AnInputThatKillsTwoWorkersIsQuarantined) {
  SourceOptions options = with_real_worker(clip());
  options.fps = 0;
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  std::size_t given = 0;
  run_source(*source, run, {.until = [&](const SourceRun& r) {
    if (r.pictures.size() > given) {  // each worker gets one picture further
      given = r.pictures.size();
      kill(source->worker_pid(), SIGSEGV);
    }
    return false;
  }});
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable);
  EXPECT_NE(run.error->message.find("the decoder crashed on it"), std::string::npos);
  EXPECT_NE(run.error->message.find("clip.mp4"), std::string::npos);
  EXPECT_EQ(child_processes(), 0);
}

TEST(SourceProcess, AStoppedWorkerIsNoticedAndReplaced) {
  SourceOptions options = with_real_worker(clip());
  options.fps = 0;
  options.watchdog = std::chrono::milliseconds(150);
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.until = [](const SourceRun& r) { return r.pictures.size() >= 10; }});
  ASSERT_EQ(kill(source->worker_pid(), SIGSTOP), 0);
  run_source(*source, run);
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.pictures.size(), 100u);
  EXPECT_TRUE(run.well_formed());
}

TEST(SourceProcess, CloseEndsAWaitFromAnotherThread) {
  SourceOptions options = with_real_worker(clip());
  options.realtime = true;
  auto source = open_source(options);
  ASSERT_TRUE(source);
  std::thread closer([&source] {
    test_clock().sleep_us(300'000);
    source->close();
  });
  SourceRun run;
  run_source(*source, run);
  closer.join();
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kClosed);
  EXPECT_FALSE(run.ended);
  EXPECT_EQ(child_processes(), 0);
}

TEST(SourceProcess, RealtimeDeliversNoFrameEarly) {
  SourceOptions options = with_real_worker(clip());
  options.realtime = true;
  auto source = open_source(options);
  ASSERT_TRUE(source);
  std::optional<std::int64_t> tie_us;  // clock minus media time of the first frame
  std::size_t frames = 0;
  for (std::int64_t media_us = 0; media_us < 1'500'000;) {
    auto item = source->next(std::chrono::milliseconds(50));
    if (!item) {
      ASSERT_EQ(item.error().code, ErrorCode::kTimeout) << item.error().message;
      continue;
    }
    const auto* frame = std::get_if<Frame>(&*item);
    if (frame == nullptr) continue;
    ++frames;
    media_us = frame->time.us();
    EXPECT_LE(frame->captured, test_clock().now());
    const std::int64_t due_us = frame->captured.us - media_us;
    if (!tie_us) tie_us = due_us;
    EXPECT_GE(due_us, *tie_us);
  }
  EXPECT_GT(frames, 60u);
}

// The steps in milliseconds between the pictures of [from, to).
std::set<std::int64_t> steps_ms(const SourceRun& run, std::size_t from, std::size_t to) {
  std::set<std::int64_t> out;
  for (std::size_t i = from + 1; i < to; ++i) {
    out.insert((run.pictures[i].time.us() - run.pictures[i - 1].time.us() + 500) / 1000);
  }
  return out;
}

TEST(SourceProcess, KeyPicturesAloneOnRequestAndAllAgain) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=320x240:r=10:d=60 -f lavfi -i sine=f=440:d=60 -c:v "
                    "libx264 -g 10 -keyint_min 10 -sc_threshold 0 -bf 2 -pix_fmt yuv420p -c:a aac "
                    "a.mp4"));
  SourceOptions options = with_real_worker(folder.path("a.mp4"));
  options.fps = 0;
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  const auto until = [&](std::size_t pictures) {
    run_source(*source, run, {.keep_pixels = true, .until = [&](const SourceRun& r) {
                                // Only the newest keeps its slot.
                                if (r.pictures.size() > 1) {
                                  auto& old = run.pictures[run.pictures.size() - 2];
                                  std::get<Picture>(old.payload).pixels.data.reset();
                                }
                                return r.pictures.size() >= pictures;
                              }});
  };
  constexpr std::size_t kAhead = 24;  // decoded already when the wish is heard
  until(20);
  source->set_key_pictures_only(true);
  until(60);
  EXPECT_EQ(steps_ms(run, 20 + kAhead, 60), std::set<std::int64_t>{1000});
  const auto whole = read_file(folder.path("a.mp4"));
  const auto same_as_whole = [&](const Frame& frame) {
    const auto view = std::get<Picture>(frame.payload).pixels.view();
    const auto& rgb =
        whole.pictures.at(static_cast<std::size_t>(frame.time.us() + 500) / 100'000).rgb;
    return std::equal(rgb.begin(), rgb.end(), view.row(0));
  };
  EXPECT_TRUE(same_as_whole(run.pictures.back())) << "decoded alone";
  source->set_key_pictures_only(false);
  until(160);
  EXPECT_EQ(steps_ms(run, 90, 160), std::set<std::int64_t>{100});
  EXPECT_TRUE(same_as_whole(run.pictures.back())) << "decoded with the others again";
  EXPECT_TRUE(run.well_formed());
  EXPECT_TRUE(run.losses.empty());
}

TEST(SourceProcess, ALoopIsANewEpochThatFollowsOn) {
  SourceOptions options = with_real_worker(clip());
  options.loop = true;
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.until = [](const SourceRun& r) { return r.pictures.size() >= 50; }});
  ASSERT_GE(run.pictures.size(), 50u);
  EXPECT_TRUE(run.well_formed());
  EXPECT_EQ(run.pictures.back().time.epoch(), 2u);
  EXPECT_NEAR(run.pictures.back().time.seconds(), 50 * 0.2, 0.5);
  EXPECT_FALSE(run.ended);
}

TEST(SourceProcess, APipeIsReadToItsEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int kept = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  auto source = open_source(with_real_worker("-"));
  dup2(kept, STDIN_FILENO);
  close(kept);
  ASSERT_TRUE(source);
  std::thread writer([to = ends[1]] {
    const TestFolder folder;
    EXPECT_TRUE(folder.ffmpeg("-i " + clip() + " -c copy -f mpegts out.ts"));
    const auto bytes = folder.load("out.ts");
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t put =
          write(to, bytes.data() + at, std::min<std::size_t>(bytes.size() - at, 9000));
      if (put <= 0) break;
      at += static_cast<std::size_t>(put);
    }
    close(to);
  });
  SourceRun run;
  run_source(*source, run);
  writer.join();
  EXPECT_TRUE(run.ended);
  EXPECT_NEAR(static_cast<double>(run.pictures.size()), 20, 1);
}

TEST(SourceProcess, SomethingElseNamedMp4IsOneClearError) {
  const TestFolder folder;
  folder.store("notes.mp4", std::vector<std::uint8_t>(5000, 'x'));
  auto source = open_source(with_real_worker(folder.path("notes.mp4")));
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run);
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable);
  EXPECT_NE(run.error->message.find("notes.mp4"), std::string::npos);
}

TEST(SourceProcess, AMissingWorkerIsNamed) {
  SourceOptions options = with_real_worker(clip());
  options.worker_path = "/nonexistent/worker";
  const auto source = Source::open(options, test_clock(), core::Rng(1));
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::kInternal);
  EXPECT_NE(source.error().message.find("/nonexistent/worker"), std::string::npos);
}

// F23, F24.
TEST(SourceProcess, FiftySourcesLeaveNothingBehind) {
  const auto once = [](int i) {
    auto source = open_source(with_real_worker(clip()));
    ASSERT_TRUE(source);
    SourceRun run;
    run_source(*source, run, {.keep_pixels = i % 2 == 0, .until = [i](const SourceRun& r) {
                                return r.pictures.size() >= static_cast<std::size_t>(i % 4);
                              }});
  };
  once(0);
  const int before = open_descriptors();
  for (int i = 0; i < 50; ++i) once(i);
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(child_processes(), 0);
}

}  // namespace
}  // namespace saccade::ingest
