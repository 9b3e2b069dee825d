#pragma once
// The seccomp part of the sandbox: which system calls the decode worker may make.
#include "ingest/sandbox.h"

namespace saccade::ingest {

// Installs the allow-list for `policy` on the whole process. False when the host cannot.
bool filter_syscalls(SandboxPolicy policy);

}  // namespace saccade::ingest
