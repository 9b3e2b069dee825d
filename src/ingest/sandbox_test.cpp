#include "ingest/sandbox.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>

namespace saccade::ingest {
namespace {

// What the probe program says: attempt -> "ok" or the error's name.
std::map<std::string, std::string> probe(const std::string& policy) {
  std::map<std::string, std::string> out;
  const std::string command = std::string(SACCADE_SANDBOX_PROBE) + " " + policy;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  char line[512];
  while (pipe && fgets(line, sizeof(line), pipe.get()) != nullptr) {
    const std::string text(line);
    const auto colon = text.find(": ");
    out[text.substr(0, colon)] = text.substr(colon + 2, text.size() - colon - 3);
  }
  return out;
}

// Both policies forbid this.
void expect_locked_in(std::map<std::string, std::string>& seen) {
  for (const char* attempt : {"read /proc/1/environ", "list /tmp", "write /tmp", "mkdir", "unlink",
                              "memfd", "fork", "exec", "kill parent", "ptrace", "unshare",
                              "become root", "unix socket", "packet socket"}) {
    ASSERT_TRUE(seen.contains(attempt)) << attempt;
    EXPECT_NE(seen[attempt], "ok") << attempt;
  }
  EXPECT_EQ(seen["memory"], "ok");
  EXPECT_EQ(seen["thread"], "ok");
}

TEST(Sandbox, SupportIsReportedForPeople) {
  const SandboxReport report = sandbox_support();
  EXPECT_TRUE(report.limits);
  EXPECT_EQ(
      describe(SandboxReport{}),
      "none; missing: limits, memory limit, unprivileged user, no new privileges, file rules, "
      "system call filter");
  EXPECT_NE(describe(report).find("limits"), std::string::npos);
}

TEST(Sandbox, RecordedInputCanNeitherOpenNorConnectNorExecute) {
  if (!sandbox_support().system_calls) GTEST_SKIP() << "no seccomp here";
  auto seen = probe("recorded");
  expect_locked_in(seen);
  for (const char* attempt : {"read /etc/passwd", "read /proc/self/maps", "tcp socket",
                              "raw socket", "make executable"}) {
    ASSERT_TRUE(seen.contains(attempt)) << attempt;
    EXPECT_NE(seen[attempt], "ok") << attempt;
  }
}

TEST(Sandbox, NetworkInputMayConnectAndReadCertificatesOnly) {
  if (!sandbox_support().system_calls || !sandbox_support().files) {
    GTEST_SKIP() << "no seccomp or no Landlock here";
  }
  auto seen = probe("network");
  expect_locked_in(seen);
  EXPECT_EQ(seen["read /etc/passwd"], "ok");  // name service lives in /etc
  EXPECT_EQ(seen["tcp socket"], "ok");
  EXPECT_NE(seen["raw socket"], "ok");
  EXPECT_NE(seen["read /proc/self/maps"], "ok");
}

TEST(Sandbox, MemoryIsBounded) {
  if (!sandbox_support().memory_limit) GTEST_SKIP() << "sanitizers need the address space";
  EXPECT_EQ(probe("recorded")["4 GiB"], "ENOMEM");
}

}  // namespace
}  // namespace saccade::ingest
