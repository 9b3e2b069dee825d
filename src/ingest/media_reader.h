#pragma once
// Turns one opened source into stamped pictures and sound. This is the part of ingest that touches
// FFmpeg and untrusted bytes; it runs inside the decode worker (and, in tests, directly).
// Promises: decoding is chosen by content, never by a name; demuxers, decoders and protocols come
// from explicit tables (allow_list.h); sizes are checked before decoding; one broken packet is a
// Loss and never the end; no thread and no process is started.
// Threads: one thread calls open and read; interrupt may be called from any thread.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/clock.h"
#include "core/media_time.h"
#include "core/result.h"
#include "ingest/ingest_types.h"

namespace saccade::ingest {

// Where decoded pictures are written: shared-memory slots in the worker, plain memory in tests.
class PictureSlots {
 public:
  virtual ~PictureSlots() = default;
  // Memory for `width` x `height` RGB: width * height * 3 bytes, rows packed. The reader fills it
  // and hands the pointer on in ReadPicture. When none is free a recorded source waits inside this
  // call; a live one gets null at once, and the reader reports Loss{kRate}. Null for a recorded
  // source means that nobody will ever free a slot: the reader ends with kCancelled.
  virtual std::uint8_t* acquire(int width, int height) = 0;
  // Whether pictures that stand alone are enough for now (key_pictures.h).
  virtual bool key_pictures_only() const { return false; }
};

struct ReaderOptions {
  std::string url;    // network URL or /dev/videoN; unused when `fd` is given
  std::string name;   // how messages call the source: no credentials
  int fd = -1;        // >= 0: recorded bytes come from here, borrowed; no file is opened by name
  bool push = false;  // `fd` is the pair on which pushed packets come (read_push.h)
  bool live = false;
  bool udp = false;           // RTSP over UDP instead of TCP
  bool tls_insecure = false;  // any certificate will do
  int tls_ca_fd = -1;         // PEM certificates to trust instead of the system's, borrowed
  bool want_video = true, want_audio = true;
  double fps = 5.0;              // pictures per second of media; 0 = every picture
  bool scene_cuts = true;        // the first picture of a new scene too
  int animation_frames_max = 1;  // GIF, WebP, APNG: pictures taken, whatever `fps`; 0 = all
  std::uint8_t matte = 255;      // grey level behind transparent pixels
  core::MediaTime start = core::MediaTime::from_us(0);  // of the first frame: epoch and position
  std::chrono::milliseconds open_timeout{10'000};       // network: no header (or still) after this
  std::chrono::milliseconds read_timeout{15'000};       // network: no byte for this long
};

// `slot` is what PictureSlots gave: packed RGB rows, upright, square pixels.
struct ReadPicture {
  std::uint8_t* slot = nullptr;
  int width = 0, height = 0;
  core::MediaTime time;
  core::MediaDuration duration;  // of this picture in the source; 0 = unknown
  bool scene_cut = false, interlaced = false;
  std::optional<core::WallTime> wall;  // from RTCP sender reports
};

// 16 kHz mono block of kAudioBlockSamples; only the last one of the stream may be shorter.
struct ReadSound {
  std::vector<float> samples;
  core::MediaTime time;
  bool gap = false;  // silence that stands for a lost stretch
  std::optional<core::WallTime> wall;
};

// A pushed packet has been worked off; what it gave came before.
struct PushTaken {};

using ReadItem = std::variant<ReadPicture, ReadSound, Loss, PushTaken, EndOfSource>;

class MediaReader {
 public:
  // Opens the source and reads its header. `slots` and `clock` must outlive the reader.
  // Errors: kMediaUnusable (not media, playlist, over a limit, nothing to decode),
  // kUnsupported (codec or device format), kSourceUnreachable (refused, unknown host, timeout),
  // kUnauthorized, kCancelled (interrupted), kUsage (options).
  static core::Result<std::unique_ptr<MediaReader>> open(ReaderOptions options, PictureSlots& slots,
                                                         const core::Clock& clock);
  virtual ~MediaReader() = default;

  virtual const SourceInfo& info() const = 0;

  // The next item, in the order of the source. Times rise strictly per kind inside an epoch;
  // epochs rise per kind, and the two kinds may enter a new epoch a little apart.
  // Blocks while the source has nothing, at most read_timeout. After EndOfSource or an error the
  // reader is spent. Errors: kMediaUnusable (a recorded source gave no frame at all),
  // kSourceUnreachable (live source broke off), kCancelled.
  virtual core::Result<ReadItem> read() = 0;

  // Makes read() return kCancelled soon. Any thread; sticky. open() is bounded by open_timeout.
  virtual void interrupt() = 0;
};

}  // namespace saccade::ingest
