#pragma once
// Opens a camera or a stream by its address under the rules of allow_list.h: which protocols and
// demuxers it may use, itself and for what it names, and whose certificates are trusted.
// TLS: certificates are checked for https and rtmps, also behind redirects and inside playlists.
// FFmpeg's RTSP cannot be told to check: rtsps is for who takes any certificate (resolve_input.h).
#include <memory>
#include <string>

#include "core/result.h"
#include "ingest/av_handles.h"
#include "ingest/media_reader.h"
#include "ingest/read_deadline.h"

struct AVDictionary;
struct AVInputFormat;

namespace saccade::ingest {

// FFmpeg calls back into it: it must outlive what was opened with it.
class NetworkAccess {
 public:
  NetworkAccess(const ReaderOptions& options, ReadDeadline& deadline);

  // What an http(s) address answers, so that its content can decide what it is.
  core::Result<IoHandle> open_body();
  // `body` and `container` from open_body and probe_container; null for everything but http(s).
  core::Result<FormatHandle> open_format(AVIOContext* body, const AVInputFormat* container);

 private:
  static int on_open(AVFormatContext* format, AVIOContext** io, const char* url, int flags,
                     AVDictionary** options);
  void set_trust(AVDictionary** options) const;
  std::string timeout_us() const;

  const ReaderOptions options_;
  ReadDeadline& deadline_;
  // FFmpeg's own way to open what a format names.
  int (*open_as_ffmpeg_)(AVFormatContext*, AVIOContext**, const char*, int,
                         AVDictionary**) = nullptr;
};

}  // namespace saccade::ingest
