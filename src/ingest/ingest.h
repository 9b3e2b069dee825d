#pragma once
// Any live, recorded or pushed source becomes a stream of SourceItems. FFmpeg lives only in this
// room, and runs only inside a sandboxed child process (decode worker); this class talks to that
// child. Threads: one thread calls next(); close() may be called from any thread and makes next()
// return.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"
#include "core/rng.h"
#include "ingest/ingest_types.h"

namespace saccade::ingest {

class PushPort;  // from_push.h

struct SourceOptions {
  std::string url;   // path, "-" (stdin), /dev/videoN, rtsp:// rtsps:// rtmp:// srt:// http(s)://
  double fps = 5.0;  // pictures per second of media to deliver; 0 = every picture
  bool scene_cuts = true;     // deliver the first picture of a new scene besides the rate
  bool realtime = false;      // pace a file by the clock (live sources always are)
  bool loop = false;          // start a file again at its end, as a new epoch
  bool udp = false;           // RTSP over UDP instead of TCP
  bool tls_insecure = false;  // https, rtmps, rtsps: any certificate will do
  std::string tls_ca_file;    // PEM certificates to trust instead of the system's; empty = those
  bool want_video = true, want_audio = true;
  int animation_frames_max = 1;  // stills: pictures taken from GIF/WebP animations; 0 = all
  std::uint8_t matte = 255;      // grey level behind transparent pixels
  std::string worker_path;       // executable that runs as decode worker; empty = this program
  std::chrono::milliseconds watchdog{3000};        // silent or frozen longer than this = stale
  std::chrono::milliseconds open_timeout{10'000};  // an attempt without a header ends after this
  // A live source that has not come up once is tried for this long; 0 = for ever.
  std::chrono::milliseconds connect_limit{30'000};
  // Where a client pushes into this source; `url` is then not used. Null for all others.
  std::shared_ptr<PushPort> push;
};

class Source {
 public:
  // Checks the options, starts the worker. Errors: kUsage (scheme, range), kSourceUnreachable
  // (no such file, no permission), kMediaUnusable (empty file, playlist), kInternal.
  // `clock` must outlive the source.
  static core::Result<std::unique_ptr<Source>> open(SourceOptions options, const core::Clock& clock,
                                                    core::Rng rng);
  virtual ~Source() = default;

  // Waits up to `wait` for the next item. Errors: kTimeout (nothing yet, call again), kClosed
  // (after close or EndOfSource), kMediaUnusable, kSourceUnreachable, kUnauthorized, kExhausted.
  // Any error but kTimeout is final. Recorded sources wait when all picture slots are out; live
  // sources drop the picture in the worker and report Loss{kRate}.
  virtual core::Result<SourceItem> next(std::chrono::milliseconds wait) = 0;

  // Pictures that stand alone are enough from now on, where they come often; or no longer. For
  // videos; on the thread of next().
  virtual void set_key_pictures_only(bool only) = 0;

  virtual void close() = 0;
  virtual bool live() const = 0;
  // Items come at the clock's pace: a live source, or a file played in real time. Who is slower
  // than that must leave something out.
  virtual bool paced() const = 0;
};

// Body of the hidden subcommand `saccade decode-worker`: speaks the worker protocol on descriptor
// `control_fd` until it ends. Returns the process exit code.
int run_decode_worker(int control_fd);

// "rtsp://user:pass@host/x" becomes "rtsp://host/x": for every message and log.
std::string redact_url(std::string_view url);

}  // namespace saccade::ingest
