#include "session/host.h"

#include <utility>

#include "ingest/ingest.h"
#include "ingest/media_support.h"
#include "ingest/sandbox.h"
#include "ingest/worker_protocol.h"

namespace saccade::session {

int run_decode_worker() { return ingest::run_decode_worker(ingest::kWorkerControlFd); }

std::vector<HostFact> host_facts() {
  const ingest::SandboxReport sandbox = ingest::sandbox_support();
  std::vector<HostFact> facts;
  facts.push_back({"decode sandbox", sandbox.system_calls && sandbox.privileges && sandbox.files,
                   ingest::describe(sandbox),
                   "use a Linux kernel with seccomp and Landlock (5.13 or newer)"});
  for (ingest::MediaSupport& part : ingest::media_support()) {
    const bool ok = part.missing.empty();
    facts.push_back({std::move(part.name), ok, std::move(part.present),
                     ok ? "" : "install an FFmpeg that has " + part.missing});
  }
  return facts;
}

}  // namespace saccade::session
