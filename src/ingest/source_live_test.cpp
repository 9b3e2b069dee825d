// Live sources end to end, against GStreamer's RTSP server on the loopback (faults F7, F8, F9).
// Skipped where the server's Python bindings are missing.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "ingest/source_test_support.h"

namespace saccade::ingest {
namespace {

using core::ErrorCode;

// tests/e2e/rtsp_server.py, killed at the end.
class Camera {
 public:
  explicit Camera(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
    start();
  }
  ~Camera() { kill_now(); }
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;

  // Empty when the server cannot run here.
  const std::string& address() const { return address_; }
  void silence(bool on) const { kill(pid_, on ? SIGUSR1 : SIGUSR2); }

  void kill_now() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
  }
  // On the port it had.
  void restart() {
    const auto colon = address_.rfind(':');
    arguments_.push_back("--port");
    arguments_.push_back(address_.substr(colon + 1, address_.find('/', colon) - colon - 1));
    start();
  }

 private:
  void start() {
    int ends[2];
    if (pipe(ends) != 0) return;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    std::vector<std::string> words{"python3", "tests/e2e/rtsp_server.py"};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    std::vector<char*> line;
    line.reserve(words.size() + 1);
    for (std::string& word : words) line.push_back(word.data());
    line.push_back(nullptr);
    if (posix_spawn(&pid_, "/usr/bin/python3", &files, nullptr, line.data(), environ) != 0) {
      pid_ = -1;
    }
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    address_.clear();
    char letter = 0;
    while (read(ends[0], &letter, 1) == 1 && letter != '\n') address_.push_back(letter);
    close(ends[0]);
  }

  std::vector<std::string> arguments_;
  pid_t pid_ = -1;
  std::string address_;
};

#define SACCADE_NEED(camera) \
  if ((camera).address().empty()) GTEST_SKIP() << "no GStreamer RTSP server here"

auto pictures(std::size_t count) {
  return [count](const SourceRun& run) { return run.pictures.size() >= count; };
}

TEST(LiveSource, ACameraComesUpAndGivesPicturesAndSound) {
  const Camera camera({"--sound"});
  SACCADE_NEED(camera);
  auto source = open_source(with_real_worker(camera.address()));
  ASSERT_TRUE(source);
  EXPECT_TRUE(source->live());
  SourceRun run;
  run_source(*source, run, {.seconds_max = 60, .until = [](const SourceRun& r) {
                              return r.pictures.size() >= 10 && r.sounds.size() >= 50;
                            }});
  EXPECT_EQ(run.state_list(), (std::vector{SourceState::kConnecting, SourceState::kUp}));
  ASSERT_TRUE(run.info);
  EXPECT_TRUE(run.info->live);
  EXPECT_EQ(run.info->width, 320);
  EXPECT_GE(run.pictures.size(), 10u);
  EXPECT_GE(run.sounds.size(), 50u);
  EXPECT_TRUE(run.well_formed());
}

TEST(LiveSource, ACameraThatRestartsIsFoundAgainAsANewEpoch) {
  Camera camera({});
  SACCADE_NEED(camera);
  auto source = open_source(with_real_worker(camera.address()));
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.seconds_max = 60, .until = pictures(10)});
  ASSERT_EQ(run.pictures.size(), 10u);
  const std::int64_t lost_at = test_clock().now().us;
  camera.kill_now();
  run_source(*source, run, {.seconds_max = 2});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.states.back().state, SourceState::kConnecting);
  const std::size_t before = run.pictures.size();
  camera.restart();
  run_source(*source, run, {.seconds_max = 60, .until = pictures(before + 5)});
  ASSERT_GE(run.pictures.size(), before + 5);
  EXPECT_EQ(run.state_list(), (std::vector{SourceState::kConnecting, SourceState::kUp,
                                           SourceState::kConnecting, SourceState::kUp}));
  EXPECT_TRUE(run.well_formed());
  const core::MediaTime last_old = run.pictures[before - 1].time;
  const core::MediaTime first_new = run.pictures[before].time;
  EXPECT_EQ(first_new.epoch(), last_old.epoch() + 1);
  const std::int64_t outage_us = run.pictures[before].captured.us - lost_at;
  EXPECT_NEAR(static_cast<double>(first_new.us() - last_old.us()), static_cast<double>(outage_us),
              1'500'000)
      << "media time goes on by the outage";
}

TEST(LiveSource, ASilentCameraIsStaleAndThenConnectedAnew) {
  const Camera camera({});
  SACCADE_NEED(camera);
  SourceOptions options = with_real_worker(camera.address());
  options.watchdog = std::chrono::milliseconds(2000);
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.seconds_max = 60, .until = pictures(10)});
  const auto state_is = [](SourceState state) {
    return [state](const SourceRun& r) { return r.states.back().state == state; };
  };
  camera.silence(true);
  run_source(*source, run, {.seconds_max = 60, .until = state_is(SourceState::kStale)});
  ASSERT_EQ(run.states.back().state, SourceState::kStale);
  run_source(*source, run, {.seconds_max = 60, .until = state_is(SourceState::kConnecting)});
  ASSERT_EQ(run.states.back().state, SourceState::kConnecting);
  camera.silence(false);
  run_source(*source, run, {.seconds_max = 60, .until = state_is(SourceState::kUp)});
  EXPECT_EQ(run.states.back().state, SourceState::kUp);
  EXPECT_TRUE(run.well_formed());
}

TEST(LiveSource, ACrashedWorkerOfACameraIsReplaced) {
  const Camera camera({});
  SACCADE_NEED(camera);
  auto source = open_source(with_real_worker(camera.address()));
  ASSERT_TRUE(source);
  SourceRun run;
  for (std::size_t crash = 1; crash <= 3; ++crash) {  // more often than a file would be allowed
    const std::size_t wanted = run.pictures.size() + 5;
    run_source(*source, run, {.seconds_max = 60, .until = pictures(wanted)});
    ASSERT_EQ(run.pictures.size(), wanted);
    kill(source->worker_pid(), SIGSEGV);
  }
  run_source(*source, run, {.seconds_max = 60, .until = pictures(run.pictures.size() + 5)});
  EXPECT_EQ(run.pictures.back().time.epoch(), 3u);
  EXPECT_EQ(run.states.size(), 8u) << "one event per change";
  EXPECT_TRUE(run.well_formed());
}

TEST(LiveSource, AWrongPasswordFailsAtOnceAndShowsNoSecret) {
  const Camera camera({"--user", "viewer", "--password", "right"});
  SACCADE_NEED(camera);
  std::string url = camera.address();
  url.insert(url.find("://") + 3, "viewer:canary@");
  auto source = open_source(with_real_worker(url));
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.seconds_max = 60});
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kUnauthorized);
  EXPECT_EQ(run.state_list(), (std::vector{SourceState::kConnecting, SourceState::kFailed}));
  for (const std::string& text : {run.error->message, run.error->hint, run.states[1].reason}) {
    EXPECT_EQ(text.find("canary"), std::string::npos) << text;
  }
}

TEST(LiveSource, TheRightPasswordIsTaken) {
  const Camera camera({"--user", "viewer", "--password", "right"});
  SACCADE_NEED(camera);
  std::string url = camera.address();
  url.insert(url.find("://") + 3, "viewer:right@");
  auto source = open_source(with_real_worker(url));
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.seconds_max = 60, .until = pictures(3)});
  EXPECT_GE(run.pictures.size(), 3u);
}

// One event for the attempt, one for its reason, one for the end.
const std::vector<SourceState> kNeverUp{SourceState::kConnecting, SourceState::kConnecting,
                                        SourceState::kFailed};

TEST(LiveSource, ADeadHostIsTriedUntilTheConnectLimitOnly) {
  SourceOptions options = with_real_worker("rtsp://127.0.0.1:9/live");
  options.connect_limit = std::chrono::milliseconds(1500);
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.seconds_max = 60});
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kSourceUnreachable);
  EXPECT_NE(run.error->message.find("127.0.0.1:9/live: connection refused ("), std::string::npos)
      << run.error->message;
  EXPECT_NE(run.error->message.find(" attempts in "), std::string::npos);
  EXPECT_EQ(run.state_list(), kNeverUp);
}

TEST(LiveSource, ACameraThatAcceptsAndSaysNothingIsTreatedAsADeadOne) {
  const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(silent, any, size), 0);
  ASSERT_EQ(listen(silent, 16), 0);
  ASSERT_EQ(getsockname(silent, any, &size), 0);
  SourceOptions options =
      with_real_worker("rtsp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/live");
  options.open_timeout = std::chrono::milliseconds(300);
  options.connect_limit = std::chrono::milliseconds(1500);
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.seconds_max = 60});
  close(silent);
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kSourceUnreachable);
  EXPECT_NE(run.error->message.find("no answer in time ("), std::string::npos)
      << run.error->message;
  EXPECT_EQ(run.error->message.find("(1 attempts"), std::string::npos) << "tried more than once";
  EXPECT_EQ(run.state_list(), kNeverUp);
}

TEST(LiveSource, ALimitOfZeroMeansForEver) {
  SourceOptions options = with_real_worker("rtsp://127.0.0.1:9/live");
  options.connect_limit = std::chrono::milliseconds(0);
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run, {.seconds_max = 2});
  EXPECT_FALSE(run.error);
  EXPECT_EQ(run.states.back().state, SourceState::kConnecting);
}

TEST(LiveSource, ASlowTakerLosesPicturesButIsTold) {
  const Camera camera({"--fps", "25"});
  SACCADE_NEED(camera);
  SourceOptions options = with_real_worker(camera.address());
  options.fps = 0;
  auto source = open_source(options);
  ASSERT_TRUE(source);
  SourceRun run;
  run_source(*source, run,
             {.seconds_max = 60, .keep_pixels = true, .until = [](const SourceRun& r) {
                return r.lost(LossKind::kRate) >= 10;
              }});
  EXPECT_EQ(run.pictures.size(), core::limits::kFrameSlots);
  EXPECT_GE(run.lost(LossKind::kRate), 10u);
  EXPECT_EQ(run.states.back().state, SourceState::kUp) << "a slow taker is no fault of the camera";
}

}  // namespace
}  // namespace saccade::ingest
