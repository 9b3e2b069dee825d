#pragma once
// The cheap checks before a worker is started: is the address one we know, does the file exist, may
// it be read, can there be anything in it? A recorded input is opened here, by the parent: the
// worker opens no file. So are the certificates that a network input shall trust.
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
  kClient,  // a client pushes packets (from_push.h): as a camera, but its silence is its own affair
};

struct ResolvedInput {
  SourceKind kind = SourceKind::kRecorded;
  SandboxPolicy policy = SandboxPolicy::kRecorded;
  std::string name;      // for messages: no credentials
  Fd file;               // recorded only
  bool regular = false;  // `file` can be read again from its start
  Fd certificates;       // network only, if any were named
};

// The largest file of certificates that is taken over.
inline constexpr std::size_t kCertificatesBytesMax = 1 << 20;

// Errors: kUsage (also: rtsps:// without tls_insecure, since FFmpeg's RTSP cannot check a
// certificate), kSourceUnreachable (no such file or device, no permission), kMediaUnusable
// (directory, empty file, no video device).
core::Result<ResolvedInput> resolve_input(const SourceOptions& options);

}  // namespace saccade::ingest
