#include "ingest/media_support.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <array>
#include <functional>
#include <set>

namespace saccade::ingest {
namespace {

std::set<std::string> input_protocols() {
  std::set<std::string> names;
  void* position = nullptr;
  while (const char* name = avio_enum_protocols(&position, 0)) names.insert(name);
  return names;
}

MediaSupport check(const std::string& what, const std::vector<const char*>& wanted,
                   const std::function<bool(const char*)>& has) {
  MediaSupport support;
  support.name = what;
  for (const char* name : wanted) {
    std::string& list = has(name) ? support.present : support.missing;
    list += (list.empty() ? "" : ",") + std::string(name);
  }
  return support;
}

}  // namespace

// What users meet most; the full tables are in allow_list.cpp.
std::vector<MediaSupport> media_support() {
  const std::set<std::string> protocols = input_protocols();
  return {
      check("containers",
            {"mov", "matroska", "mpegts", "avi", "wav", "mp3", "flac", "ogg", "rtsp", "hls", "flv"},
            [](const char* name) { return av_find_input_format(name) != nullptr; }),
      check("decoders",
            {"h264", "hevc", "vp8", "vp9", "av1", "mjpeg", "png", "gif", "aac", "mp3", "opus",
             "vorbis", "flac", "pcm_s16le"},
            [](const char* name) {
              const AVCodecDescriptor* codec = avcodec_descriptor_get_by_name(name);
              return codec && avcodec_find_decoder(codec->id);
            }),
      check("protocols", {"tcp", "udp", "rtp", "tls", "http", "https", "rtmp", "srt"},
            [&](const char* name) { return protocols.count(name) > 0; }),
  };
}

}  // namespace saccade::ingest
