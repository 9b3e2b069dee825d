#include "ingest/describe_failure.h"

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <mutex>

#include "ingest/allow_list.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/log.h>
}

namespace saccade::ingest {
namespace {

using core::error;
using core::ErrorCode;

thread_local bool certificate_refused = false;

// The fixed texts of FFmpeg's TLS all name the certificate; nothing is formatted or kept.
void on_log(void*, int level, const char* format, va_list) {
  if (level <= AV_LOG_ERROR && strcasestr(format, "certificate") != nullptr) {
    certificate_refused = true;
  }
}

core::Error describe_device_failure(int code, const std::string& name) {
  switch (code) {
    case AVERROR(ENOTTY):
    case AVERROR(EINVAL):
      return error(ErrorCode::kMediaUnusable, name + ": is no video device", "see /dev/video*");
    case AVERROR(ENODEV):
      return error(ErrorCode::kMediaUnusable, name + ": captures no pictures",
                   "a camera often has several devices: try the next /dev/videoN");
    case AVERROR(EBUSY):
      return error(ErrorCode::kSourceUnreachable, name + ": is in use", "close what else reads it");
    case AVERROR(EACCES):
    case AVERROR(EPERM):
      return error(ErrorCode::kSourceUnreachable, name + ": no permission to use it",
                   "add your user to the group `video`");
    default:
      return error(ErrorCode::kSourceUnreachable, name + ": cannot be opened",
                   "check that the camera is plugged in");
  }
}

core::Error describe_network_failure(int code, const std::string& name) {
  switch (code) {
    case AVERROR_HTTP_UNAUTHORIZED:
    case AVERROR_HTTP_FORBIDDEN:
      return error(ErrorCode::kUnauthorized, name + ": user name or password refused",
                   "put them into the URL: scheme://user:password@host/...");
    case AVERROR(EACCES):
    case AVERROR(EPERM):
      return error(ErrorCode::kSourceUnreachable, name + ": no permission",
                   "check who may read it");
    case AVERROR_HTTP_NOT_FOUND:
    case AVERROR(ENOENT):
      return error(ErrorCode::kSourceUnreachable, name + ": not found", "check the path");
    case AVERROR(ECONNREFUSED):
      return error(ErrorCode::kSourceUnreachable, name + ": connection refused",
                   "check that the server runs and the port is right");
    case AVERROR_INVALIDDATA:
    case AVERROR_DEMUXER_NOT_FOUND:
    case AVERROR(EINVAL):
      return error(ErrorCode::kMediaUnusable, name + ": sends no media we can read",
                   "check the URL with ffprobe");
    case AVERROR_PROTOCOL_NOT_FOUND:
      return error(ErrorCode::kUnsupported, name + ": this transport is not supported",
                   "use rtsp, rtmp, srt or http");
    default:
      return error(ErrorCode::kSourceUnreachable, name + ": cannot be reached",
                   "check address, port and network");
  }
}

}  // namespace

void listen_to_ffmpeg() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(&on_log); });
  certificate_refused = false;
}

core::Error describe_failure(int code, const ReaderOptions& options, const ReadDeadline& deadline) {
  const std::string& name = options.name;
  if (deadline.interrupted()) return error(ErrorCode::kCancelled, name + ": cancelled");
  if (code == AVERROR(ENOMEM)) return error(ErrorCode::kExhausted, name + ": out of memory");
  if (options.fd >= 0) {
    return error(ErrorCode::kMediaUnusable, name + ": is damaged or no media we can read",
                 "check the file with ffprobe");
  }
  if (certificate_refused) {
    return error(ErrorCode::kUnauthorized, name + ": its certificate is not trusted",
                 "name the file of its issuer with --tls-ca; --tls-insecure takes any certificate");
  }
  if (deadline.passed() || code == AVERROR(ETIMEDOUT)) {
    return error(ErrorCode::kSourceUnreachable, name + ": no answer in time",
                 "check address and port, and that the sender runs");
  }
  if (scheme_of(options.url) == Scheme::kDevice) return describe_device_failure(code, name);
  return describe_network_failure(code, name);
}

}  // namespace saccade::ingest
