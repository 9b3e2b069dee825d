#pragma once
// Locks the decode worker in before it touches a byte of untrusted media (threats T4, T8).
// Layers, each used as far as the host allows and each reported:
//   limits      address space, descriptors, no core dump, no file may grow
//   user        a worker started by root becomes nobody (not for devices: their nodes need a group)
//   privileges  no_new_privs: nothing executed later could gain any
//   files       Landlock: nothing for recorded input; /etc, /usr and the resolver's files,
//   read-only,
//               for the network; the device node for a device
//   system calls seccomp, an allow-list: what is not on it fails with EPERM. No new process, no
//               program, no signal to others, no new executable memory; a socket only for network
//               sources, a file by name only for network sources (read-only) and devices.
// Goal: a decoder that was taken over can compute, fill its picture slots and talk to its parent.
// Non-goals: hiding the network from a network source; limits on processor time (the parent's
// watchdogs do that).
#include <string>

namespace saccade::ingest {

enum class SandboxPolicy { kRecorded, kNetwork, kDevice };

struct SandboxOptions {
  SandboxPolicy policy = SandboxPolicy::kRecorded;
  std::string device_path;  // kDevice only
};

// Which layers are in force (enter_sandbox) or would be on this machine (sandbox_support).
struct SandboxReport {
  bool limits = false;
  bool memory_limit = false;  // part of `limits`; off in builds with address or thread sanitizer
  bool user = false;
  bool privileges = false;
  bool files = false;
  bool system_calls = false;
  bool operator==(const SandboxReport&) const = default;
};

// For the calling process, for good. Call it while it has one thread. Never fails: the report says
// what is missing.
SandboxReport enter_sandbox(const SandboxOptions& options);

// What the host offers, without changing anything: for `saccade doctor`.
SandboxReport sandbox_support();

// One line for people: "limits, user, ...; missing: files".
std::string describe(const SandboxReport& report);

}  // namespace saccade::ingest
