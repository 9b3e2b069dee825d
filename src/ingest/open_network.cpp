#include "ingest/open_network.h"

#include "ingest/allow_list.h"
#include "ingest/av_options.h"
#include "ingest/describe_failure.h"
#include "ingest/open_input.h"

extern "C" {
#include <libavdevice/avdevice.h>
#include <libavformat/avformat.h>
}

namespace saccade::ingest {
namespace {

using core::ErrorCode;

// Live sources say what they are quickly or not at all.
constexpr std::int64_t kLiveProbeBytes = 1 << 20;
constexpr int kLiveFpsProbe = 2;  // pictures; FFmpeg's own 20 would cost seconds at a low rate
constexpr std::int64_t kLiveAnalyzeUs = 1'500'000;
// RTSP has told its codecs before the first packet. FFmpeg would go on to look for reordering in
// ten pictures, which cameras do not do and the decoder finds out by itself.
constexpr std::int64_t kRtspAnalyzeUs = 300'000;

}  // namespace

NetworkAccess::NetworkAccess(const ReaderOptions& options, ReadDeadline& deadline)
    : options_(options), deadline_(deadline) {}

std::string NetworkAccess::timeout_us() const {
  return std::to_string(std::chrono::microseconds(options_.read_timeout).count());
}

void NetworkAccess::set_trust(AVDictionary** options) const {
  av_dict_set(options, "tls_verify", options_.tls_insecure ? "0" : "1", 0);
  if (options_.tls_ca_fd < 0) return;
  const std::string path = "/proc/self/fd/" + std::to_string(options_.tls_ca_fd);
  av_dict_set(options, "ca_file", path.c_str(), 0);
}

// Also for what a playlist names: FFmpeg hands its own options on, but not those of TLS.
int NetworkAccess::on_open(AVFormatContext* format, AVIOContext** io, const char* url, int flags,
                           AVDictionary** options) {
  const auto& me = *static_cast<const NetworkAccess*>(format->opaque);
  AvOptions none;
  AVDictionary** all = options != nullptr ? options : none.get();
  me.set_trust(all);
  return me.open_as_ffmpeg_(format, io, url, flags, all);
}

core::Result<IoHandle> NetworkAccess::open_body() {
  AvOptions settings;
  settings.set("protocol_whitelist", rules_for(scheme_of(options_.url)).protocols);
  settings.set("rw_timeout", timeout_us());
  set_trust(settings.get());
  const AVIOInterruptCB give_up{&ReadDeadline::on_check, &deadline_};
  AVIOContext* body = nullptr;
  const int opened =
      avio_open2(&body, options_.url.c_str(), AVIO_FLAG_READ, &give_up, settings.get());
  if (opened < 0) return describe_failure(opened, options_, deadline_);
  return IoHandle(body);
}

core::Result<FormatHandle> NetworkAccess::open_format(AVIOContext* body,
                                                      const AVInputFormat* container) {
  const Scheme scheme = scheme_of(options_.url);
  if (scheme == Scheme::kUnknown) {
    return core::error(ErrorCode::kUsage, options_.name + ": unknown kind of source",
                       "use a path, -, /dev/videoN, rtsp(s)://, rtmp(s)://, srt:// or http(s)://");
  }
  if (scheme == Scheme::kDevice) avdevice_register_all();
  const NetworkRules rules = rules_for(scheme);
  if (rules.forced_demuxer != nullptr) container = av_find_input_format(rules.forced_demuxer);
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) return core::error(ErrorCode::kExhausted, "out of memory");
  open_as_ffmpeg_ = format->io_open;
  format->io_open = &on_open;
  format->opaque = this;
  format->pb = body;
  if (options_.live) {
    format->probesize = kLiveProbeBytes;
    format->fps_probe_size = kLiveFpsProbe;
    format->max_analyze_duration = scheme == Scheme::kRtsp ? kRtspAnalyzeUs : kLiveAnalyzeUs;
  }
  // A camera that sends single pictures stamps none of them.
  format->use_wallclock_as_timestamps = container != nullptr && is_unstamped(container->name);
  AvOptions settings;
  settings.set("format_whitelist", rules.containers);
  settings.set("protocol_whitelist", rules.protocols);
  if (scheme == Scheme::kRtsp) {
    settings.set("rtsp_transport", options_.udp ? "udp" : "tcp");
    settings.set("timeout", timeout_us());
  } else if (scheme != Scheme::kDevice) {
    settings.set("rw_timeout", timeout_us());
  }
  return read_header(format, container, options_, deadline_, settings);
}

}  // namespace saccade::ingest
