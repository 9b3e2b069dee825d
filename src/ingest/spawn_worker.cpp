#include "ingest/spawn_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

namespace saccade::ingest {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeepErrorStream = true;  // where a sanitizer says what it found
#else
constexpr bool kKeepErrorStream = false;
#endif
constexpr int kHighFd = 100;               // out of the way of descriptors that a child expects
constexpr int kSendBufferBytes = 1 << 20;  // about a second of messages; the host may grant less

// What a decoder may know of our environment: language, certificates, where libraries lie.
bool inherited(std::string_view variable) {
  constexpr std::array<std::string_view, 6> kNames = {
      "LANG=", "LC_ALL=", "SSL_CERT_FILE=", "SSL_CERT_DIR=", "LD_LIBRARY_PATH=", "TZ="};
  for (const std::string_view name : kNames) {
    if (variable.starts_with(name)) return true;
  }
  return false;
}

std::vector<char*> child_environment() {
  static char threads[] = "OMP_NUM_THREADS=1";
  static char policy[] = "OMP_WAIT_POLICY=passive";
  std::vector<char*> out{threads, policy};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (inherited(*variable)) out.push_back(*variable);
  }
  out.push_back(nullptr);
  return out;
}

struct Pair {
  Fd ours, theirs;
};

std::optional<Pair> make_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  Pair pair{Fd(ends[0]), Fd(ends[1])};
  const int high = fcntl(pair.theirs.get(), F_DUPFD_CLOEXEC, kHighFd);
  if (high < 0) return std::nullopt;
  pair.theirs = Fd(high);
  for (const int fd : {pair.ours.get(), high}) {
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes, sizeof(kSendBufferBytes));
  }
  return pair;
}

// posix_spawn's settings, released at the end.
struct SpawnSettings {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  explicit SpawnSettings(int control) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!kKeepErrorStream) {
      posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    posix_spawn_file_actions_adddup2(&files, control, kWorkerControlFd);
    posix_spawn_file_actions_addclosefrom_np(&files, kWorkerControlFd + 1);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

std::string describe_death(int status) {
  if (WIFEXITED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
  if (!WIFSIGNALED(status)) return "unknown end";
  const int number = WTERMSIG(status);
  const char* name = sigdescr_np(number);
  return "signal " + std::to_string(number) +
         (name != nullptr ? " (" + std::string(name) + ")" : "");
}

}  // namespace

core::Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::string& path) {
  const auto refuse = [&](int reason) {
    return core::error(core::ErrorCode::kInternal,
                       "cannot start the decode worker '" + (path.empty() ? "this program" : path) +
                           "': " + std::strerror(reason),
                       "check the installation and the limits on processes and open files");
  };
  auto pair = make_pair();
  if (!pair) return refuse(errno);
  const char* program = path.empty() ? "/proc/self/exe" : path.c_str();
  SpawnSettings settings(pair->theirs.get());
  char name[] = "saccade", subcommand[] = "decode-worker";
  char* const arguments[] = {name, subcommand, nullptr};
  auto environment = child_environment();
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, program, &settings.files, &settings.attributes, arguments,
                                 environment.data());
  if (failed != 0) return refuse(failed);
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(pid, std::move(pair->ours)));
}

WorkerProcess::~WorkerProcess() { end(); }

std::string WorkerProcess::end() {
  if (ended_) return death_;
  ended_ = true;
  // A worker that is already dead keeps its own reason: the kill finds nobody.
  kill(pid_, SIGKILL);
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  death_ = reaped == pid_ ? describe_death(status) : "unknown end";
  control_->close();
  return death_;
}

std::optional<std::uint64_t> WorkerProcess::bytes_read() const {
  std::ifstream counters("/proc/" + std::to_string(pid_) + "/io");
  std::string name;
  std::uint64_t value = 0;
  if (counters >> name >> value && name == "rchar:") return value;
  return std::nullopt;
}

}  // namespace saccade::ingest
