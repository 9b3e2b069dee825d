#include "ingest/open_input.h"

#include <cerrno>

#include "core/limits.h"
#include "ingest/allow_list.h"
#include "ingest/describe_failure.h"
#include "ingest/probe_header.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace saccade::ingest {
namespace {

namespace limits = core::limits;
using core::ErrorCode;

// A cover in front of the sound may be large; the format shows only behind it.
constexpr unsigned kProbeBytesMax = 8U << 20;
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

core::Error out_of_memory() { return core::error(ErrorCode::kExhausted, "out of memory"); }

}  // namespace

core::Result<const AVInputFormat*> probe_container(AVIOContext& bytes, const ReaderOptions& options,
                                                   const ReadDeadline& deadline) {
  const auto unusable = [&](const std::string& why, const std::string& hint) {
    return core::error(ErrorCode::kMediaUnusable, options.name + ": " + why, hint);
  };
  const bool recorded = options.fd >= 0;
  const AVInputFormat* container = nullptr;
  const int score = av_probe_input_buffer2(&bytes, &container, nullptr, nullptr, 0, kProbeBytesMax);
  if (!recorded && score < 0 && score != AVERROR_INVALIDDATA) {
    return describe_failure(score, options, deadline);
  }
  if (score < 0 || container == nullptr) {
    return unusable("is no picture, video or sound that we know",
                    "see the list of formats in the documentation");
  }
  const std::string found = container->name;
  if (still_allowed(found)) return container;
  if (recorded ? container_allowed(found) : body_allowed(found)) return container;
  if (is_playlist(found)) {
    return unusable("is a playlist; its entries are not followed", "name the media file itself");
  }
  return unusable("is of a kind we do not read", "see the list of formats in the documentation");
}

core::Result<FormatHandle> open_recorded(ReadBytes& bytes, const AVInputFormat* container,
                                         const ReaderOptions& options, ReadDeadline& deadline) {
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) return out_of_memory();
  format->pb = bytes.context();
  format->io_open = &refuse_to_open;
  AvOptions settings;
  settings.set("format_whitelist", container_list());
  return read_header(format, container, options, deadline, settings);
}

core::Result<FormatHandle> read_header(AVFormatContext* format, const AVInputFormat* container,
                                       const ReaderOptions& options, ReadDeadline& deadline,
                                       AvOptions& settings) {
  format->interrupt_callback = {&ReadDeadline::on_check, &deadline};
  settings.set("codec_whitelist", decoder_list());
  const char* url = options.fd >= 0 ? nullptr : options.url.c_str();
  const int opened = avformat_open_input(&format, url, container, settings.get());
  if (opened < 0) return describe_failure(opened, options, deadline);
  FormatHandle owned(format);
  if (auto status = find_streams(*owned, options, deadline); !status) return status.error();
  return owned;
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
