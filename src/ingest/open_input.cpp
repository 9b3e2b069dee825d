#include "ingest/open_input.h"

#include <cerrno>
#include <mutex>

#include "core/limits.h"
#include "ingest/allow_list.h"
#include "ingest/probe_header.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavdevice/avdevice.h>
#include <libavformat/avformat.h>
}

namespace saccade::ingest {
namespace {

namespace limits = core::limits;
using core::ErrorCode;

// A cover in front of the sound may be large; the format shows only behind it.
constexpr unsigned kProbeBytesMax = 8U << 20;
// Live sources say what they are quickly or not at all.
constexpr std::int64_t kLiveProbeBytes = 1 << 20;
constexpr int kLiveFpsProbe = 2;  // pictures; FFmpeg's own 20 would cost seconds at a low rate
constexpr std::int64_t kLiveAnalyzeUs = 1'500'000;

class Options {
 public:
  Options() = default;
  ~Options() { av_dict_free(&dict_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  void set(const char* key, const std::string& value) {
    av_dict_set(&dict_, key, value.c_str(), 0);
  }
  AVDictionary** get() { return &dict_; }

 private:
  AVDictionary* dict_ = nullptr;
};

// For recorded bytes: whatever a file names beside itself stays closed.
int refuse_to_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EACCES);
}

core::Status check_streams(const AVFormatContext& format, const std::string& name) {
  if (format.nb_streams > static_cast<unsigned>(limits::kSourceStreamsMax)) {
    return core::error(ErrorCode::kMediaUnusable,
                       name + ": has " + std::to_string(format.nb_streams) +
                           " streams; allowed are " + std::to_string(limits::kSourceStreamsMax),
                       "keep only the streams that are needed");
  }
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    const AVStream& stream = *format.streams[i];
    const AVCodecParameters& coded = *stream.codecpar;
    const bool picture = coded.codec_type == AVMEDIA_TYPE_VIDEO &&
                         (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) == 0;
    if (!picture || (coded.width == 0 && coded.height == 0)) continue;
    if (auto status = check_picture_size(name, coded.width, coded.height); !status) return status;
  }
  return {};
}

// Reads until the streams are known. Decoders opened on the way keep the same bounds as ours.
core::Status find_streams(AVFormatContext& format, const ReaderOptions& options,
                          const ReadDeadline& deadline) {
  if (auto status = check_streams(format, options.name); !status) return status;
  std::vector<AVDictionary*> each(format.nb_streams, nullptr);
  for (auto& dict : each) {
    av_dict_set_int(&dict, "max_pixels", limits::kPicturePixelsMax, 0);
    av_dict_set(&dict, "threads", "1", 0);
  }
  const int found = avformat_find_stream_info(&format, each.empty() ? nullptr : each.data());
  for (auto& dict : each) av_dict_free(&dict);
  if (found < 0) return describe_failure(found, options, deadline);
  return check_streams(format, options.name);
}

core::Result<FormatHandle> open_format(AVFormatContext* format, const AVInputFormat* container,
                                       const ReaderOptions& options, ReadDeadline& deadline,
                                       Options& settings) {
  format->interrupt_callback = {&ReadDeadline::on_check, &deadline};
  settings.set("codec_whitelist", decoder_list());
  if (options.fd < 0) deadline.set(options.open_timeout);
  const char* url = options.fd >= 0 ? nullptr : options.url.c_str();
  const int opened = avformat_open_input(&format, url, container, settings.get());
  if (opened < 0) return describe_failure(opened, options, deadline);
  FormatHandle owned(format);
  if (auto status = find_streams(*owned, options, deadline); !status) return status.error();
  return owned;
}

core::Error out_of_memory() { return core::error(ErrorCode::kExhausted, "out of memory"); }

}  // namespace

void ReadDeadline::set(std::chrono::milliseconds from_now) {
  until_us_ = clock_.now().us + std::chrono::microseconds(from_now).count();
}

int ReadDeadline::on_check(void* self) {
  const auto& me = *static_cast<const ReadDeadline*>(self);
  return me.interrupted_ || me.passed() ? 1 : 0;
}

void silence_ffmpeg() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback([](void*, int, const char*, va_list) {}); });
}

core::Error describe_failure(int code, const ReaderOptions& options, const ReadDeadline& deadline) {
  const std::string& name = options.name;
  if (deadline.interrupted()) return core::error(ErrorCode::kCancelled, name + ": cancelled");
  if (code == AVERROR(ENOMEM)) return core::error(ErrorCode::kExhausted, name + ": out of memory");
  if (options.fd >= 0) {
    return core::error(ErrorCode::kMediaUnusable, name + ": is damaged or no media we can read",
                       "check the file with ffprobe");
  }
  if (deadline.passed() || code == AVERROR(ETIMEDOUT)) {
    return core::error(ErrorCode::kSourceUnreachable, name + ": no answer in time",
                       "check address and port, or raise the open timeout");
  }
  switch (code) {
    case AVERROR_HTTP_UNAUTHORIZED:
    case AVERROR_HTTP_FORBIDDEN:
      return core::error(ErrorCode::kUnauthorized, name + ": user name or password refused",
                         "put them into the URL: scheme://user:password@host/...");
    case AVERROR(EACCES):
    case AVERROR(EPERM):
      return core::error(ErrorCode::kSourceUnreachable, name + ": no permission",
                         "check who may read it");
    case AVERROR_HTTP_NOT_FOUND:
    case AVERROR(ENOENT):
      return core::error(ErrorCode::kSourceUnreachable, name + ": not found", "check the path");
    case AVERROR(ECONNREFUSED):
      return core::error(ErrorCode::kSourceUnreachable, name + ": connection refused",
                         "check that the server runs and the port is right");
    case AVERROR_INVALIDDATA:
    case AVERROR_DEMUXER_NOT_FOUND:
    case AVERROR(EINVAL):
      return core::error(ErrorCode::kMediaUnusable, name + ": sends no media we can read",
                         "check the URL with ffprobe");
    case AVERROR_PROTOCOL_NOT_FOUND:
      return core::error(ErrorCode::kUnsupported, name + ": this transport is not supported",
                         "use rtsp, rtmp, srt or http");
    default:
      return core::error(ErrorCode::kSourceUnreachable, name + ": cannot be reached",
                         "check address, port and network");
  }
}

core::Result<const AVInputFormat*> probe_container(ReadBytes& bytes, const ReaderOptions& options) {
  const auto unusable = [&](const std::string& why, const std::string& hint) {
    return core::error(ErrorCode::kMediaUnusable, options.name + ": " + why, hint);
  };
  if (bytes.context() == nullptr) return out_of_memory();
  if (bytes.size() == 0) return unusable("is empty (0 bytes)", "check how it was made");
  const AVInputFormat* container = nullptr;
  const int score =
      av_probe_input_buffer2(bytes.context(), &container, nullptr, nullptr, 0, kProbeBytesMax);
  if (score < 0 || container == nullptr) {
    return unusable("is no picture, video or sound that we know",
                    "see the list of formats in the documentation");
  }
  const std::string found = container->name;
  if (is_playlist(found)) {
    return unusable("is a playlist; its entries are not followed", "name the media file itself");
  }
  if (!container_allowed(found) && !still_allowed(found)) {
    return unusable("is of a kind we do not read", "see the list of formats in the documentation");
  }
  return container;
}

core::Result<FormatHandle> open_recorded(ReadBytes& bytes, const AVInputFormat* container,
                                         const ReaderOptions& options, ReadDeadline& deadline) {
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) return out_of_memory();
  format->pb = bytes.context();
  format->flags |= AVFMT_FLAG_CUSTOM_IO;
  format->io_open = &refuse_to_open;
  Options settings;
  settings.set("format_whitelist", container_list());
  return open_format(format, container, options, deadline, settings);
}

core::Result<FormatHandle> open_network(const ReaderOptions& options, ReadDeadline& deadline) {
  const Scheme scheme = scheme_of(options.url);
  if (scheme == Scheme::kUnknown) {
    return core::error(ErrorCode::kUsage, options.name + ": unknown kind of source",
                       "use a path, -, /dev/videoN, rtsp(s)://, rtmp(s)://, srt:// or http(s)://");
  }
  if (scheme == Scheme::kDevice) avdevice_register_all();
  const NetworkRules rules = rules_for(scheme);
  const AVInputFormat* container =
      rules.forced_demuxer != nullptr ? av_find_input_format(rules.forced_demuxer) : nullptr;
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) return out_of_memory();
  if (options.live) {
    format->probesize = kLiveProbeBytes;
    format->fps_probe_size = kLiveFpsProbe;
    format->max_analyze_duration = kLiveAnalyzeUs;
  }
  Options settings;
  settings.set("format_whitelist", rules.containers);
  settings.set("protocol_whitelist", rules.protocols);
  const auto timeout_us = std::chrono::microseconds(options.read_timeout).count();
  if (scheme == Scheme::kRtsp) {
    settings.set("rtsp_transport", options.udp ? "udp" : "tcp");
    settings.set("timeout", std::to_string(timeout_us));
  } else if (scheme != Scheme::kDevice) {
    settings.set("rw_timeout", std::to_string(timeout_us));
  }
  return open_format(format, container, options, deadline, settings);
}

AVStream* choose_stream(AVFormatContext& format, StreamKind kind) {
  const AVMediaType type = kind == StreamKind::kVideo ? AVMEDIA_TYPE_VIDEO : AVMEDIA_TYPE_AUDIO;
  const auto usable = [&](const AVStream& stream) {
    return stream.codecpar->codec_type == type &&
           (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) == 0 &&
           avcodec_find_decoder(stream.codecpar->codec_id) != nullptr;
  };
  const int best = av_find_best_stream(&format, type, -1, -1, nullptr, 0);
  if (best >= 0 && usable(*format.streams[best])) return format.streams[best];
  AVStream* any = nullptr;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    AVStream* stream = format.streams[i];
    if (usable(*stream)) return stream;
    const bool cover = (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
    if (any == nullptr && stream->codecpar->codec_type == type && !cover) any = stream;
  }
  return any;
}

core::Result<CodecHandle> open_decoder(const AVStream& stream, const std::string& name) {
  const AVCodecParameters& coded = *stream.codecpar;
  const auto refused = [&] {
    return core::error(ErrorCode::kUnsupported,
                       name + ": codec " + avcodec_get_name(coded.codec_id) + " is not supported",
                       "convert it, for example to H.264 and AAC in MP4");
  };
  const AVCodec* codec = nullptr;
  // AV1: FFmpeg's first choice needs hardware.
  if (coded.codec_id == AV_CODEC_ID_AV1) codec = avcodec_find_decoder_by_name("libdav1d");
  if (codec == nullptr) codec = avcodec_find_decoder(coded.codec_id);
  if (codec == nullptr || !decoder_allowed(codec->name)) return refused();
  CodecHandle decoder(avcodec_alloc_context3(codec));
  if (!decoder) return out_of_memory();
  if (avcodec_parameters_to_context(decoder.get(), &coded) < 0) return refused();
  decoder->thread_count = 1;  // the sandbox allows no more
  decoder->max_pixels = limits::kPicturePixelsMax;
  decoder->pkt_timebase = stream.time_base;
  decoder->err_recognition |= AV_EF_CRCCHECK;
  if (avcodec_open2(decoder.get(), codec, nullptr) < 0) return refused();
  return decoder;
}

}  // namespace saccade::ingest
