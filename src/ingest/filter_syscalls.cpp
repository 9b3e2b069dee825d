#include "ingest/filter_syscalls.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

namespace saccade::ingest {
namespace {

struct ReleaseFilter {
  void operator()(void* filter) const { seccomp_release(filter); }
};

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM))), ok_(context_ != nullptr) {}

  void allow(std::span<const int> calls) {
    for (const int call : calls) add(SCMP_ACT_ALLOW, call, {});
  }
  void allow_if(int call, scmp_arg_cmp condition) { add(SCMP_ACT_ALLOW, call, {condition}); }
  void refuse(int call, int error) { add(SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call, {}); }
  bool load() { return ok_ && seccomp_load(context_.get()) == 0; }

 private:
  void add(std::uint32_t action, int call, std::initializer_list<scmp_arg_cmp> conditions) {
    if (!ok_ || call == __NR_SCMP_ERROR) return;
    ok_ = seccomp_rule_add_array(context_.get(), action, call,
                                 static_cast<unsigned>(conditions.size()), conditions.begin()) == 0;
  }

  std::unique_ptr<void, ReleaseFilter> context_;
  bool ok_;
};

constexpr scmp_arg_cmp masked(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  return scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, mask, value};
}
constexpr scmp_arg_cmp equal(unsigned argument, scmp_datum_t value) {
  return scmp_arg_cmp{argument, SCMP_CMP_EQ, value, 0};
}

// Flags of open that change anything; O_RDONLY is 0.
constexpr scmp_datum_t kOpenChanges = O_CREAT | O_TRUNC | O_APPEND | __O_TMPFILE;
constexpr scmp_datum_t kOpenWrites = O_ACCMODE | kOpenChanges;

// Descriptors it already has, and pipes to itself (sanitizers probe memory with one).
constexpr auto kDescriptorCalls =
    std::to_array<int>({SCMP_SYS(read),   SCMP_SYS(readv),    SCMP_SYS(pread64), SCMP_SYS(preadv),
                        SCMP_SYS(lseek),  SCMP_SYS(write),    SCMP_SYS(writev),  SCMP_SYS(close),
                        SCMP_SYS(fstat),  SCMP_SYS(dup),      SCMP_SYS(sendmsg), SCMP_SYS(recvmsg),
                        SCMP_SYS(sendto), SCMP_SYS(recvfrom), SCMP_SYS(poll),    SCMP_SYS(ppoll),
                        SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(pipe),    SCMP_SYS(pipe2)});

// Memory that is not executable; mapping itself is in allow_memory.
constexpr auto kMemoryCalls =
    std::to_array<int>({SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk)});

// Time, threads, signals to itself, its end.
constexpr auto kTimeAndThreadCalls = std::to_array<int>({SCMP_SYS(futex),
                                                         SCMP_SYS(clock_gettime),
                                                         SCMP_SYS(clock_getres),
                                                         SCMP_SYS(clock_nanosleep),
                                                         SCMP_SYS(gettimeofday),
                                                         SCMP_SYS(time),
                                                         SCMP_SYS(nanosleep),
                                                         SCMP_SYS(sched_yield),
                                                         SCMP_SYS(sched_getaffinity),
                                                         SCMP_SYS(sched_getparam),
                                                         SCMP_SYS(sched_getscheduler),
                                                         SCMP_SYS(set_robust_list),
                                                         SCMP_SYS(set_tid_address),
                                                         SCMP_SYS(rseq),
                                                         SCMP_SYS(membarrier),
                                                         SCMP_SYS(restart_syscall),
                                                         SCMP_SYS(rt_sigreturn),
                                                         SCMP_SYS(rt_sigaction),
                                                         SCMP_SYS(rt_sigprocmask),
                                                         SCMP_SYS(sigaltstack),
                                                         SCMP_SYS(exit),
                                                         SCMP_SYS(exit_group)});

// Facts about itself and the machine.
constexpr auto kSelfCalls = std::to_array<int>(
    {SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
     SCMP_SYS(getegid), SCMP_SYS(getrandom), SCMP_SYS(getrlimit), SCMP_SYS(getrusage),
     SCMP_SYS(times), SCMP_SYS(uname), SCMP_SYS(sysinfo)});

void allow_computing(Filter& filter) {
  filter.allow(kDescriptorCalls);
  filter.allow(kMemoryCalls);
  filter.allow(kTimeAndThreadCalls);
  filter.allow(kSelfCalls);
  filter.allow_if(SCMP_SYS(fcntl), equal(1, F_GETFL));
  filter.allow_if(SCMP_SYS(fcntl), equal(1, F_GETFD));
  filter.allow_if(SCMP_SYS(fcntl), equal(1, F_SETFL));
  filter.allow_if(SCMP_SYS(fcntl), equal(1, F_SETFD));
  // The C library's fstat.
  filter.allow_if(SCMP_SYS(newfstatat), masked(3, AT_EMPTY_PATH, AT_EMPTY_PATH));
  // Threads, never processes. clone3 hides its flags in memory, so the C library must fall back.
  filter.allow_if(SCMP_SYS(clone), masked(0, CLONE_THREAD, CLONE_THREAD));
  filter.refuse(SCMP_SYS(clone3), ENOSYS);
  // abort() and friends: signals to itself only.
  filter.allow_if(SCMP_SYS(tgkill), equal(0, static_cast<scmp_datum_t>(getpid())));
  filter.allow_if(SCMP_SYS(prctl), equal(0, PR_SET_NAME));
  filter.allow_if(SCMP_SYS(prlimit64), equal(2, 0));  // reading only
}

void allow_memory(Filter& filter, bool executable) {
  if (executable) {  // name service modules are loaded when a host is first looked up
    filter.allow(std::array{SCMP_SYS(mmap), SCMP_SYS(mprotect)});
  } else {
    filter.allow_if(SCMP_SYS(mmap), masked(2, PROT_EXEC, 0));
    filter.allow_if(SCMP_SYS(mprotect), masked(2, PROT_EXEC, 0));
  }
}

// Sockets once made, and what waits for them. No listen, no accept.
constexpr auto kNetworkCalls = std::to_array<int>(
    {SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
     SCMP_SYS(setsockopt), SCMP_SYS(getsockopt), SCMP_SYS(shutdown), SCMP_SYS(sendmmsg),
     SCMP_SYS(recvmmsg), SCMP_SYS(epoll_create), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl),
     SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(eventfd2)});

void allow_network(Filter& filter) {
  for (const int family : {AF_INET, AF_INET6, AF_NETLINK}) {
    filter.allow_if(SCMP_SYS(socket), equal(0, static_cast<scmp_datum_t>(family)));
  }
  filter.allow(kNetworkCalls);
  filter.allow_if(SCMP_SYS(ioctl), equal(1, FIONREAD));
  filter.allow_if(SCMP_SYS(ioctl), equal(1, FIONBIO));
}

// Looking at paths.
constexpr auto kPathCalls =
    std::to_array<int>({SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(stat),
                        SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(readlink),
                        SCMP_SYS(readlinkat), SCMP_SYS(getdents64)});

// Which files: see Landlock. Here only how they may be opened.
void allow_opening(Filter& filter, scmp_datum_t refused_flags) {
  filter.allow_if(SCMP_SYS(open), masked(1, refused_flags, 0));
  filter.allow_if(SCMP_SYS(openat), masked(2, refused_flags, 0));
  filter.allow(kPathCalls);
}

}  // namespace

bool filter_syscalls(SandboxPolicy policy) {
  Filter filter;
  allow_computing(filter);
  allow_memory(filter, policy == SandboxPolicy::kNetwork);
  if (policy == SandboxPolicy::kNetwork) {
    allow_network(filter);
    allow_opening(filter, kOpenWrites);
  }
  if (policy == SandboxPolicy::kDevice) {
    allow_opening(filter, kOpenChanges);
    filter.allow(std::array{SCMP_SYS(ioctl)});
  }
  return filter.load();
}

}  // namespace saccade::ingest
