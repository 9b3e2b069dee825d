// Tries, from inside the sandbox, what the sandbox must forbid; prints one line per attempt:
// "name: ok" or "name: <errno>". Usage: saccade_sandbox_probe recorded|network
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "ingest/sandbox.h"

namespace {

void report(const char* name, long result) {
  std::printf("%s: %s\n", name, result >= 0 ? "ok" : strerrorname_np(errno));
}

void try_files() {
  report("read /etc/passwd", open("/etc/passwd", O_RDONLY));
  report("read /proc/self/maps", open("/proc/self/maps", O_RDONLY));
  report("read /proc/1/environ", open("/proc/1/environ", O_RDONLY));
  report("list /tmp", open("/tmp", O_RDONLY | O_DIRECTORY));
  report("write /tmp", open("/tmp/saccade_sandbox_probe", O_WRONLY | O_CREAT, 0600));
  report("mkdir", mkdir("/tmp/saccade_sandbox_probe_dir", 0700));
  report("unlink", unlink("/tmp/saccade_sandbox_probe"));
  report("memfd", memfd_create("x", 0));
}

void try_processes() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  report("fork", child);
  char name[] = "/bin/true";
  char* const arguments[] = {name, nullptr};
  report("exec", execv(name, arguments));
  report("kill parent", kill(getppid(), 0));
  report("ptrace", ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
  report("unshare", unshare(CLONE_NEWUSER));
  report("become root", setuid(0) == 0 && geteuid() == 0 ? 0 : -1);
}

void try_network() {
  report("tcp socket", socket(AF_INET, SOCK_STREAM, 0));
  report("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
  report("raw socket", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
  report("packet socket", socket(AF_PACKET, SOCK_RAW, 0));
}

void try_memory() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  report("memory", page == MAP_FAILED ? -1 : 0);
  report("make executable", mprotect(page, 4096, PROT_READ | PROT_EXEC));
  const std::size_t much = std::size_t{4} << 30;
  void* large = mmap(nullptr, much, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  report("4 GiB", large == MAP_FAILED ? -1 : 0);
}

}  // namespace

int main(int count, char** values) {
  const bool network = count > 1 && std::strcmp(values[1], "network") == 0;
  saccade::ingest::SandboxOptions options;
  options.policy = network ? saccade::ingest::SandboxPolicy::kNetwork
                           : saccade::ingest::SandboxPolicy::kRecorded;
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  const auto layers = saccade::ingest::enter_sandbox(options);
  std::printf("layers: %s\n", saccade::ingest::describe(layers).c_str());
  try_files();
  try_processes();
  try_network();
  try_memory();
  int seen = 0;
  std::thread([&seen] { seen = 1; }).join();
  report("thread", seen == 1 ? 0 : -1);
  return 0;
}
