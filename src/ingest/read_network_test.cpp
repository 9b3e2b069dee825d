// Live transports against servers on this machine, and what goes wrong when they misbehave.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "ingest/reader_test_support.h"

namespace saccade::ingest {
namespace {

using core::ErrorCode;

// A TCP socket of the loopback on a free port, listening when asked.
class Port {
 public:
  explicit Port(bool listening = false) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    if (bind(socket_, any, size) == 0 && getsockname(socket_, any, &size) == 0) {
      number_ = ntohs(address.sin_port);
    }
    if (listening) listen(socket_, 4);
  }
  ~Port() { release(); }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  void release() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  int number() const { return number_; }
  std::string text() const { return std::to_string(number_); }

 private:
  int socket_;
  int number_ = 0;
};

// A shell line that runs beside the test and goes with it.
class Beside {
 public:
  Beside(const TestFolder& folder, const std::string& line) {
    const std::string whole = "cd '" + folder.path("") + "' && exec " + line + " > beside.log 2>&1";
    child_ = fork();
    if (child_ != 0) return;
    setpgid(0, 0);
    execl("/bin/sh", "sh", "-c", whole.c_str(), nullptr);
    _exit(127);
  }
  ~Beside() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

 private:
  pid_t child_ = -1;
};

ReaderOptions live_options() {
  auto options = every_picture();
  options.open_timeout = std::chrono::seconds(20);
  return options;
}

// The server needs a moment to listen: tries until it answers, at most ten seconds.
ReadRun read_when_up(const std::string& url, const ReaderOptions& options, std::size_t pictures) {
  ReadRun run;
  for (int i = 0; i < 50; ++i) {
    run = read_url(url, options, pictures);
    if (!run.error || run.error->code != ErrorCode::kSourceUnreachable) return run;
    core::SystemClock().sleep_us(200'000);
  }
  return run;
}

constexpr const char* kRtspServer = R"(
import sys, gi
gi.require_version('Gst', '1.0'); gi.require_version('GstRtspServer', '1.0')
from gi.repository import Gst, GstRtspServer, GLib
Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_service(sys.argv[1]); server.set_address('127.0.0.1')
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch('( videotestsrc is-live=true '
  '! video/x-raw,width=160,height=120,framerate=25/1 ! '
  'x264enc tune=zerolatency key-int-max=12 ! rtph264pay name=pay0 pt=96 config-interval=1 '
  'audiotestsrc is-live=true ! audioconvert ! alawenc ! rtppcmapay name=pay1 pt=8 )')
factory.set_shared(True)
server.get_mount_points().add_factory('/cam', factory)
if len(sys.argv) > 2:
  auth = GstRtspServer.RTSPAuth(); token = GstRtspServer.RTSPToken()
  token.set_string('media.factory.role', 'user')
  auth.add_basic(GstRtspServer.RTSPAuth.make_basic('user', 'right'), token)
  server.set_auth(auth)
  roles = GstRtspServer.RTSPPermissions()
  roles.add_permission_for_role('user', 'media.factory.access', True)
  roles.add_permission_for_role('user', 'media.factory.construct', True)
  factory.set_permissions(roles)
server.attach(None); GLib.MainLoop().run()
)";

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

class RtspTest : public testing::TestWithParam<bool> {};

TEST_P(RtspTest, CameraGivesPicturesSoundAndWallTime) {
  const TestFolder folder;
  folder.store("server.py", bytes_of(kRtspServer));
  Port port;
  port.release();
  const Beside server(folder, "/usr/bin/python3 server.py " + port.text());
  auto options = live_options();
  options.udp = GetParam();
  // Six seconds: sender reports come every five at the latest.
  constexpr std::size_t kPictures = 150;
  const auto run = read_when_up("rtsp://127.0.0.1:" + port.text() + "/cam", options, kPictures);
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_TRUE(run.well_formed());
  EXPECT_TRUE(run.info.live);
  EXPECT_EQ(run.info.width, 160);
  EXPECT_GT(run.sounds.size(), 20U);
  EXPECT_LT(run.pictures.front().at.time.seconds(), 1.0);
  EXPECT_NEAR(run.pictures.back().at.time.seconds() - run.pictures.front().at.time.seconds(), 5.96,
              0.5);
  ASSERT_TRUE(run.pictures.back().at.wall);
  const auto now = core::SystemClock().wall_now();
  EXPECT_NEAR(static_cast<double>(run.pictures.back().at.wall->us) / 1e6,
              static_cast<double>(now.us) / 1e6, 30.0);
}

INSTANTIATE_TEST_SUITE_P(TcpAndUdp, RtspTest, testing::Bool());

TEST(ReadNetwork, WrongPasswordIsUnauthorizedAndTheRightOneOpens) {
  const TestFolder folder;
  folder.store("server.py", bytes_of(kRtspServer));
  Port port;
  port.release();
  const Beside server(folder, "/usr/bin/python3 server.py " + port.text() + " auth");
  const std::string at = "127.0.0.1:" + port.text() + "/cam";
  const auto wrong = read_when_up("rtsp://user:wrong@" + at, live_options(), 1);
  ASSERT_TRUE(wrong.error);
  EXPECT_EQ(wrong.error->code, ErrorCode::kUnauthorized) << wrong.error->message;
  const auto right = read_url("rtsp://user:right@" + at, live_options(), 1);
  EXPECT_FALSE(right.error);
}

TEST(ReadNetwork, RefusedUnknownAndSilentHostsAreUnreachable) {
  Port closed;
  closed.release();
  const Port silent(true);
  auto options = live_options();
  options.open_timeout = std::chrono::milliseconds(700);
  const std::string dead = "127.0.0.1:" + closed.text(), mute = "127.0.0.1:" + silent.text();
  for (const std::string& url :
       {"rtsp://" + dead + "/x", "http://" + dead + "/x.m3u8", "rtmp://" + dead + "/a/b",
        "srt://" + dead, std::string("rtsp://no-such-host.invalid/x"), "rtsp://" + mute + "/x",
        "http://" + mute + "/x", "rtmp://" + mute + "/a/b"}) {
    const auto run = read_url(url, options, 1);
    ASSERT_TRUE(run.error) << url;
    EXPECT_EQ(run.error->code, ErrorCode::kSourceUnreachable) << url << " " << run.error->message;
  }
}

TEST(ReadNetwork, UnknownSchemesAndLocalFilesAreRefused) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:d=1 -c:v mpeg2video a.ts"));
  for (const std::string& url :
       {"file://" + folder.path("a.ts"), folder.path("a.ts"), "concat:" + folder.path("a.ts"),
        std::string("gopher://127.0.0.1/"), std::string("lavfi:testsrc"), std::string("")}) {
    const auto run = read_url(url, live_options(), 1);
    ASSERT_TRUE(run.error) << url;
    EXPECT_EQ(run.error->code, ErrorCode::kUsage) << url;
  }
}

TEST(ReadNetwork, HlsIsFollowedOverHttpButNotIntoFiles) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.ffmpeg("-f lavfi -i testsrc2=s=64x64:r=10:d=4 -f lavfi -i sine=d=4 -c:v libx264 -g 10 "
                    "-c:a aac -f hls -hls_time 1 -hls_list_size 0 -hls_playlist_type vod a.m3u8"));
  folder.store("evil.m3u8", bytes_of("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://" +
                                     folder.path("a0.ts") + "\n#EXT-X-ENDLIST\n"));
  Port port;
  port.release();
  const Beside server(folder, "python3 -m http.server --bind 127.0.0.1 " + port.text());
  const std::string at = "http://127.0.0.1:" + port.text() + "/";
  const auto run = read_when_up(at + "a.m3u8", live_options(), 1000);
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_TRUE(run.well_formed());
  EXPECT_EQ(run.pictures.size(), 40U);
  EXPECT_NEAR(run.seconds_of_sound(), 4.0, 0.15);
  const auto evil = read_url(at + "evil.m3u8", live_options(), 1);
  EXPECT_TRUE(evil.error);
  EXPECT_TRUE(evil.pictures.empty());
  const auto missing = read_url(at + "missing.mp4", live_options(), 1);
  ASSERT_TRUE(missing.error);
  EXPECT_EQ(missing.error->code, ErrorCode::kSourceUnreachable);
}

// A snapshot address of a camera, whatever it is called.
TEST(ReadNetwork, StillsOverHttpAreDecidedByContent) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=320x240 -frames:v 1 a.jpg"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=64x48 -frames:v 1 a.png"));
  ASSERT_TRUE(
      folder.run("cp a.jpg snapshot.cgi && convert a.png a.webp && head -c 900 a.jpg > cut"));
  ASSERT_TRUE(folder.run("printf '<html>no picture</html>' > page"));
  Port port;
  port.release();
  const Beside server(folder, "python3 -m http.server --bind 127.0.0.1 " + port.text());
  const std::string at = "http://127.0.0.1:" + port.text() + "/";
  const auto jpeg = read_when_up(at + "snapshot.cgi?user=a", live_options(), 1000);
  ASSERT_FALSE(jpeg.error) << jpeg.error->message;
  ASSERT_EQ(jpeg.pictures.size(), 1U);
  EXPECT_EQ(jpeg.pictures[0].at.width, 320);
  EXPECT_EQ(jpeg.info.container, "jpeg");
  for (const char* file : {"a.png", "a.webp"}) {
    const auto run = read_url(at + file, live_options(), 1000);
    ASSERT_FALSE(run.error) << run.error->message;
    ASSERT_EQ(run.pictures.size(), 1U) << file;
    EXPECT_EQ(run.pictures[0].at.width, 64) << file;
  }
  for (const char* file : {"cut", "page"}) {
    const auto run = read_url(at + file, live_options(), 1);
    ASSERT_TRUE(run.error) << file;
    EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable) << file << " " << run.error->message;
  }
}

TEST(ReadNetwork, SrtAndRtmpSendersAreHeard) {
  const TestFolder folder;
  const std::string made =
      "ffmpeg -nostdin -loglevel error -re -f lavfi -i testsrc2=s=64x64:r=25 "
      "-c:v libx264 -tune zerolatency -g 10 ";
  {
    Port port;
    port.release();
    const Beside sender(folder,
                        made + "-f mpegts 'srt://127.0.0.1:" + port.text() + "?mode=listener'");
    const auto run = read_when_up("srt://127.0.0.1:" + port.text(), live_options(), 20);
    ASSERT_FALSE(run.error) << run.error->message;
    EXPECT_TRUE(run.well_formed());
    EXPECT_EQ(run.pictures.size(), 20U);
  }
  Port port;
  port.release();
  const Beside sender(folder,
                      made + "-f flv -listen 1 rtmp://127.0.0.1:" + port.text() + "/live/cam");
  const auto run =
      read_when_up("rtmp://127.0.0.1:" + port.text() + "/live/cam", live_options(), 20);
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_TRUE(run.well_formed());
}

TEST(ReadNetwork, DeviceThatIsAbsentIsUnreachable) {
  const auto run = read_url("/dev/video97", live_options(), 1);
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->code, ErrorCode::kSourceUnreachable);
}

}  // namespace
}  // namespace saccade::ingest
