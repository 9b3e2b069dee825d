#pragma once
// The cheap checks before a worker is started: is the address one we know, does the file exist, may
// it be read, can there be anything in it? A recorded input is opened here, by the parent: the
// worker opens no file.
#include <string>

#include "core/result.h"
#include "ingest/ingest.h"
#include "ingest/pass_packet.h"
#include "ingest/sandbox.h"

namespace saccade::ingest {

enum class SourceKind {
  kRecorded,  // a file or a pipe: waits for us, nothing is lost
  kPulled,    // http(s): a playlist or a file that waits for us, delivered by the clock
  kPushed,    // a camera: does not wait, old pictures give way to new ones
};

struct ResolvedInput {
  SourceKind kind = SourceKind::kRecorded;
  SandboxPolicy policy = SandboxPolicy::kRecorded;
  std::string name;      // for messages: no credentials
  Fd file;               // recorded only
  bool regular = false;  // `file` can be read again from its start
};

// Errors: kUsage, kSourceUnreachable (no such file or device, no permission), kMediaUnusable
// (directory, empty file).
core::Result<ResolvedInput> resolve_input(const SourceOptions& options);

}  // namespace saccade::ingest
