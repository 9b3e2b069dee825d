#include "ingest/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "core/limits.h"
#include "ingest/filter_syscalls.h"

namespace saccade::ingest {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryLimited = false;  // shadow memory reserves terabytes of address space
#else
constexpr bool kMemoryLimited = true;
#endif
constexpr rlim_t kDescriptorsMax = 128;
constexpr uid_t kNobody = 65534;

bool limit(int what, rlim_t value) {
  const rlimit wanted{value, value};
  return setrlimit(static_cast<__rlimit_resource_t>(what), &wanted) == 0;
}

void limit_resources(SandboxReport& report) {
  report.limits =
      limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_NOFILE, kDescriptorsMax);
  report.memory_limit = kMemoryLimited && limit(RLIMIT_AS, core::limits::kWorkerMemoryBytesMax);
}

// True when the process is not root (any more).
bool leave_root() {
  if (geteuid() != 0) return true;
  return setgroups(0, nullptr) == 0 && setresgid(kNobody, kNobody, kNobody) == 0 &&
         setresuid(kNobody, kNobody, kNobody) == 0;
}

// Landlock as of its fifth version; the header of the build machine may be older than the kernel.
constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kReadFolder = LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kDeviceIoctl = 1ULL << 15;
constexpr std::uint64_t kFirstVersion = (1ULL << 13) - 1;  // every right of version 1

// Every right to files that a kernel with this version knows.
std::uint64_t file_rights(int version) {
  std::uint64_t rights = kFirstVersion;
  if (version >= 2) rights |= 1ULL << 13;  // moving between folders
  if (version >= 3) rights |= 1ULL << 14;  // truncating
  if (version >= 5) rights |= kDeviceIoctl;
  return rights;
}

int landlock_version() {
  return static_cast<int>(
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

// A path that is absent is no failure: there is nothing to reach then.
void allow_path(int ruleset, const char* path, std::uint64_t rights) {
  const int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return;
  struct stat facts = {};
  if (fstat(fd, &facts) == 0 && !S_ISDIR(facts.st_mode)) rights &= ~kReadFolder;
  landlock_path_beneath_attr rule = {};
  rule.allowed_access = rights;
  rule.parent_fd = fd;
  syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(fd);
}

bool restrict_files(const SandboxOptions& options) {
  const int version = landlock_version();
  if (version < 1) return false;
  const std::uint64_t handled = file_rights(version);
  landlock_ruleset_attr attributes = {};
  attributes.handled_access_fs = handled;
  const auto ruleset = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes.handled_access_fs), 0));
  if (ruleset < 0) return false;
  if (options.policy == SandboxPolicy::kNetwork) {
    // Certificates, name service and its modules.
    for (const char* path : {"/etc", "/usr", "/lib", "/lib64", "/run/systemd/resolve",
                             "/run/resolvconf", "/dev/null", "/dev/urandom"}) {
      allow_path(ruleset, path, kReadFile | kReadFolder);
    }
  } else if (options.policy == SandboxPolicy::kDevice) {
    allow_path(ruleset, options.device_path.c_str(),
               handled & (kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE | kDeviceIoctl));
  }
  const bool ok = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  close(ruleset);
  return ok;
}

struct Layer {
  const char* name;
  bool SandboxReport::*in_force;
};
constexpr std::array<Layer, 6> kLayers = {{{"limits", &SandboxReport::limits},
                                           {"memory limit", &SandboxReport::memory_limit},
                                           {"unprivileged user", &SandboxReport::user},
                                           {"no new privileges", &SandboxReport::privileges},
                                           {"file rules", &SandboxReport::files},
                                           {"system call filter", &SandboxReport::system_calls}}};

}  // namespace

SandboxReport enter_sandbox(const SandboxOptions& options) {
  SandboxReport report;
  limit_resources(report);
  if (options.policy == SandboxPolicy::kDevice) {
    report.user = geteuid() != 0;
  } else {
    report.user = leave_root();
  }
  report.privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  report.files = report.privileges && restrict_files(options);
  report.system_calls = report.privileges && filter_syscalls(options.policy);
  return report;
}

SandboxReport sandbox_support() {
  SandboxReport report;
  report.limits = report.user = true;
  report.memory_limit = kMemoryLimited;
  report.privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) >= 0;
  report.files = landlock_version() >= 1;
  report.system_calls = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
  return report;
}

std::string describe(const SandboxReport& report) {
  std::string active, missing;
  for (const Layer& layer : kLayers) {
    std::string& list = report.*layer.in_force ? active : missing;
    list += (list.empty() ? "" : ", ") + std::string(layer.name);
  }
  if (active.empty()) active = "none";
  return missing.empty() ? active : active + "; missing: " + missing;
}

}  // namespace saccade::ingest
