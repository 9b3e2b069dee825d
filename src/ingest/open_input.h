#pragma once
// Opens a container for reading under the rules of allow_list.h: recorded bytes through ReadBytes,
// or a network or device source by URL. Also: which streams are used, and their decoders.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "core/clock.h"
#include "core/result.h"
#include "ingest/av_handles.h"
#include "ingest/media_reader.h"
#include "ingest/read_bytes.h"

struct AVInputFormat;
struct AVStream;

namespace saccade::ingest {

// Ends FFmpeg's blocking calls. FFmpeg polls it from inside; `interrupt` may come from any thread.
class ReadDeadline {
 public:
  explicit ReadDeadline(const core::Clock& clock) : clock_(clock) {}
  void set(std::chrono::milliseconds from_now);
  void interrupt() { interrupted_ = true; }
  const std::atomic<bool>& interrupted() const { return interrupted_; }
  bool passed() const { return clock_.now().us >= until_us_; }
  static int on_check(void* self);  // FFmpeg's AVIOInterruptCB

 private:
  const core::Clock& clock_;
  std::atomic<bool> interrupted_{false};
  std::int64_t until_us_ = INT64_MAX;
};

// What a call of FFmpeg that failed with `code` means to the user.
core::Error describe_failure(int code, const ReaderOptions& options, const ReadDeadline& deadline);

// Finds the format by content. Never null in a good result. Errors: kMediaUnusable.
core::Result<const AVInputFormat*> probe_container(ReadBytes& bytes, const ReaderOptions& options);

// Both read the header, find the streams and check their number and picture sizes. `bytes` and
// `deadline` must outlive the result.
core::Result<FormatHandle> open_recorded(ReadBytes& bytes, const AVInputFormat* container,
                                         const ReaderOptions& options, ReadDeadline& deadline);
core::Result<FormatHandle> open_network(const ReaderOptions& options, ReadDeadline& deadline);

enum class StreamKind { kVideo, kAudio };
// The stream to use: the default or best one, never a cover picture. Null when there is none.
AVStream* choose_stream(AVFormatContext& format, StreamKind kind);

// Errors: kUnsupported naming the codec.
core::Result<CodecHandle> open_decoder(const AVStream& stream, const std::string& name);

// Must be called once before any other FFmpeg call: FFmpeg prints nothing. Thread-safe.
void silence_ffmpeg();

}  // namespace saccade::ingest
