// The client against tests/e2e/hub_server.py, one repository per kind of fault.
#include "transport/hub_client.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "transport/http_fetch.h"

extern char** environ;  // NOLINT: the C library's own name

namespace saccade::transport {
namespace {

namespace fs = std::filesystem;
using core::ErrorCode;

class HubServer {
 public:
  HubServer() {
    std::array<int, 2> in{}, out{};
    EXPECT_EQ(pipe(in.data()), 0);
    EXPECT_EQ(pipe(out.data()), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    for (const int fd : {in[0], in[1], out[0], out[1]}) {
      posix_spawn_file_actions_addclose(&actions, fd);
    }
    std::array<std::string, 2> words = {"python3", "tests/e2e/hub_server.py"};
    std::array<char*, 3> argv = {words[0].data(), words[1].data(), nullptr};
    EXPECT_EQ(posix_spawnp(&pid_, "python3", &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    stdin_ = in[1];
    std::string line;
    for (char c = 0; read(out[0], &c, 1) == 1 && c != '\n';) line += c;
    close(out[0]);
    std::istringstream(line) >> port_;
  }
  ~HubServer() {
    close(stdin_);  // ends it
    waitpid(pid_, nullptr, 0);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  pid_t pid_ = 0;
  int stdin_ = -1, port_ = 0;
};

class HubClientTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("no_proxy", "127.0.0.1", 1);
    server = std::make_unique<HubServer>();
  }
  static void TearDownTestSuite() { server.reset(); }

  HubClientTest() {
    std::string name = fs::temp_directory_path() / "saccade-hub-XXXXXX";
    folder = mkdtemp(name.data());
  }
  ~HubClientTest() override { fs::remove_all(folder); }

  HubOptions options(std::string token = {}) const {
    return {server->url(), std::move(token), folder, false};
  }
  core::Result<PulledModel> pull(const std::string& name, std::string token = {}) {
    HubClient client(options(std::move(token)), clock);
    return client.pull(*parse_hub_model(name), {});
  }
  std::string log() const {
    std::string body;
    FetchRequest request;
    request.url = server->url() + "/log";
    request.body = [&](std::string_view bytes) {
      body += bytes;
      return core::Status();
    };
    EXPECT_TRUE(fetch(request).ok());
    return body;
  }
  fs::path repo_folder(const std::string& name) const {
    return fs::path(folder) / ("models--acme--" + name);
  }
  static std::unique_ptr<HubServer> server;
  core::ManualClock clock;
  std::string folder;
};
std::unique_ptr<HubServer> HubClientTest::server;

TEST_F(HubClientTest, PullsModelAndProjectorIntoTheSharedLayout) {
  const auto model = pull("acme/tiny-GGUF", "hf_secret");
  ASSERT_TRUE(model.ok()) << model.error().message;
  ASSERT_EQ(model->text_paths.size(), 1U);
  EXPECT_EQ(fs::path(model->text_paths[0]).filename(), "tiny-Q4_K_M.gguf");
  EXPECT_EQ(fs::file_size(model->text_paths[0]), 300'000U);
  EXPECT_EQ(fs::file_size(model->mmproj_path), 50'000U);
  EXPECT_EQ(model->fetched_bytes, 350'000U);
  EXPECT_TRUE(fs::is_symlink(model->mmproj_path));
  EXPECT_TRUE(fs::read_symlink(model->mmproj_path).is_relative());
  std::ifstream ref(repo_folder("tiny-GGUF") / "refs/main");
  std::string commit;
  ref >> commit;
  EXPECT_EQ(commit, model->commit);
  // The blob host answers 400 to a token, so success means that it never saw one.
  EXPECT_NE(log().find("\"token\": true"), std::string::npos);
}

TEST_F(HubClientTest, ASecondPullFetchesNothing) {
  ASSERT_TRUE(pull("acme/tiny-GGUF").ok());
  const auto again = pull("acme/tiny-GGUF");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->fetched_bytes, 0U);
}

TEST_F(HubClientTest, OfflineUsesOnlyWhatIsThere) {
  HubOptions offline = options();
  offline.offline = true;
  offline.endpoint = "http://127.0.0.1:1";
  HubClient client(offline, clock);
  const auto model = *parse_hub_model("acme/tiny-GGUF");
  EXPECT_EQ(client.pull(model, {}).error().code, ErrorCode::kModelUnusable);
  ASSERT_TRUE(pull("acme/tiny-GGUF").ok());
  const auto found = client.pull(model, {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->text_paths.size(), 1U);
  EXPECT_NE(found->mmproj_path.find("sub/mmproj-tiny-f16.gguf"), std::string::npos);
  EXPECT_FALSE(client.find_cached(*parse_hub_model("acme/tiny-GGUF:Q8_0")).ok());
}

TEST_F(HubClientTest, ABrokenDownloadContinuesWhereItStopped) {
  const auto model = pull("acme/cut-GGUF");
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(model->fetched_bytes, 350'000U);  // nothing twice
  EXPECT_NE(log().find("bytes=200000-"), std::string::npos);
}

TEST_F(HubClientTest, WithoutRangesItStartsAgain) {
  const auto model = pull("acme/norange-GGUF");
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(fs::file_size(model->text_paths[0]), 300'000U);
}

TEST_F(HubClientTest, WrongRangesAreNotTaken) {
  EXPECT_EQ(pull("acme/shift-GGUF").error().code, ErrorCode::kSourceUnreachable);
}

TEST_F(HubClientTest, LeftoversOfAnEarlierRunAreChecked) {
  ASSERT_TRUE(pull("acme/tiny-GGUF:Q8_0").ok());
  const fs::path blobs = repo_folder("tiny-GGUF") / "blobs";
  for (const auto& entry : fs::directory_iterator(blobs)) {
    const fs::path blob = entry.path();
    if (fs::file_size(blob) != 300'000) continue;
    fs::rename(blob, blob.string() + ".incomplete");
    std::ofstream(blob.string() + ".incomplete", std::ios::trunc) << "bad start";
    break;
  }
  EXPECT_EQ(pull("acme/tiny-GGUF:Q8_0").error().code, ErrorCode::kModelUnusable);
  EXPECT_TRUE(pull("acme/tiny-GGUF:Q8_0").ok());  // the bad bytes are gone
}

TEST_F(HubClientTest, WrongBytesNeverGetAName) {
  for (const char* name : {"wrong-GGUF", "long-GGUF"}) {
    const auto model = pull(std::string("acme/") + name);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().code, ErrorCode::kModelUnusable) << model.error().message;
    EXPECT_TRUE(fs::is_empty(repo_folder(name) / "snapshots"));
    for (const auto& entry : fs::directory_iterator(repo_folder(name) / "blobs")) {
      EXPECT_EQ(entry.path().extension(), ".incomplete");
    }
  }
}

TEST_F(HubClientTest, RefusalsSayWhatToDo) {
  const auto anonymous = pull("acme/gated-GGUF");
  ASSERT_FALSE(anonymous.ok());
  EXPECT_EQ(anonymous.error().code, ErrorCode::kUnauthorized);
  EXPECT_NE(anonymous.error().hint.find("HF_TOKEN"), std::string::npos);
  const auto wrong = pull("acme/gated-GGUF", "hf_wrong");
  EXPECT_EQ(wrong.error().code, ErrorCode::kUnauthorized);
  EXPECT_EQ(wrong.error().message.find("hf_wrong"), std::string::npos);
  EXPECT_TRUE(pull("acme/gated-GGUF", "hf_secret").ok());
  EXPECT_EQ(pull("nobody/none-GGUF").error().code, ErrorCode::kModelUnusable);
}

TEST_F(HubClientTest, HostileAnswersLeaveNothingBehind) {
  EXPECT_EQ(pull("acme/evil-GGUF").error().code, ErrorCode::kMediaUnusable);
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_EQ(pull("acme/loop-GGUF").error().code, ErrorCode::kSourceUnreachable);
  EXPECT_EQ(pull("acme/scheme-GGUF").error().code, ErrorCode::kSourceUnreachable);
}

TEST_F(HubClientTest, ABusyHubIsAskedAgain) { EXPECT_TRUE(pull("acme/busy-GGUF").ok()); }

TEST_F(HubClientTest, ADeadHubIsNamed) {
  HubOptions dead = options();
  dead.endpoint = "http://127.0.0.1:1/";
  HubClient client(dead, clock);
  const auto model = client.pull(*parse_hub_model("acme/tiny-GGUF"), {});
  EXPECT_EQ(model.error().code, ErrorCode::kSourceUnreachable);
  EXPECT_NE(model.error().message.find("127.0.0.1"), std::string::npos);
  dead.endpoint = "file:///etc";
  EXPECT_EQ(HubClient(dead, clock).pull(*parse_hub_model("a/b"), {}).error().code,
            ErrorCode::kUsage);
}

TEST_F(HubClientTest, CancellingKeepsWhatCameForTheNextTime) {
  HubClient client(options(), clock);
  std::uint64_t last = 0;
  const auto stopped = client.pull(*parse_hub_model("acme/cut-GGUF"), [&](const HubProgress& p) {
    last = p.done_bytes;
    return p.done_bytes < 150'000;
  });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  const auto rest = pull("acme/cut-GGUF");
  ASSERT_TRUE(rest.ok());
  EXPECT_LE(rest->fetched_bytes, 250'000U);
}

TEST_F(HubClientTest, AFolderThatCannotBeWrittenIsNamed) {
  HubOptions bad = options();
  bad.cache_folder = "/proc/nowhere";
  const auto model = HubClient(bad, clock).pull(*parse_hub_model("acme/tiny-GGUF"), {});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, ErrorCode::kExhausted);
  EXPECT_NE(model.error().message.find("/proc/nowhere"), std::string::npos);
}

TEST_F(HubClientTest, AHeldLockIsWaitedFor) {
  const HubCache cache(folder, "acme/tiny-GGUF");
  ASSERT_TRUE(cache.prepare().ok());
  ASSERT_TRUE(pull("acme/tiny-GGUF").ok());
  std::vector<FileLock> held;
  for (const auto& entry :
       fs::directory_iterator(fs::path(folder) / ".locks/models--acme--tiny-GGUF")) {
    auto lock = FileLock::try_lock(entry.path());
    ASSERT_TRUE(lock.ok() && lock->held());
    held.push_back(std::move(*lock));
  }
  HubClient client(options(), clock);
  int asked = 0;
  const auto model = client.pull(*parse_hub_model("acme/tiny-GGUF"), [&](const HubProgress& p) {
    if (p.waiting && ++asked == 3) held.clear();
    return true;
  });
  EXPECT_TRUE(model.ok());
  EXPECT_GE(asked, 3);
}

}  // namespace
}  // namespace saccade::transport
