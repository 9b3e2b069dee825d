#include "ingest/allow_list.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace saccade::ingest {
namespace {

using std::string_view;

constexpr auto kContainers = std::to_array<string_view>({
    "mov",  "mp4",  "m4a",   "3gp",       "3g2",  "mj2",  "matroska", "webm", "mpegts",
    "mpeg", "avi",  "wav",   "w64",       "aiff", "caf",  "au",       "mp3",  "aac",
    "ac3",  "eac3", "flac",  "ogg",       "asf",  "flv",  "h264",     "hevc", "m4v",
    "obu",  "ivf",  "mjpeg", "mpegvideo", "gif",  "apng", "amr",
});

constexpr auto kStills =
    std::to_array<string_view>({"jpeg_pipe", "png_pipe", "webp_pipe", "bmp_pipe", "tiff_pipe"});

// Over http(s) only; their entries go through the protocols of that scheme.
constexpr auto kHttpContainers = std::to_array<string_view>({"hls", "applehttp", "mpjpeg"});

constexpr auto kPlaylists = std::to_array<string_view>(
    {"hls", "applehttp", "concat", "dash", "imf", "sdp", "rtsp", "image2", "webm_dash_manifest"});

constexpr auto kDecoders = std::to_array<string_view>({
    // pictures
    "h264",
    "hevc",
    "libdav1d",
    "vp8",
    "vp9",
    "mpeg1video",
    "mpeg2video",
    "mpeg4",
    "h263",
    "h263i",
    "h263p",
    "mjpeg",
    "msmpeg4v1",
    "msmpeg4v2",
    "msmpeg4",
    "wmv1",
    "wmv2",
    "wmv3",
    "vc1",
    "theora",
    "flv",
    "dvvideo",
    "prores",
    "dnxhd",
    "ffv1",
    "huffyuv",
    "ffvhuff",
    "utvideo",
    "qtrle",
    "rawvideo",
    "yuv4",
    "v210",
    "msrle",
    "msvideo1",
    "cinepak",
    "png",
    "apng",
    "gif",
    "bmp",
    "tiff",
    // sound
    "aac",
    "aac_latm",
    "mp1float",
    "mp1",
    "mp2float",
    "mp2",
    "mp3float",
    "mp3",
    "ac3",
    "eac3",
    "dca",
    "flac",
    "alac",
    "wavpack",
    "tta",
    "vorbis",
    "opus",
    "speex",
    "libspeex",
    "wmav1",
    "wmav2",
    "wmapro",
    "wmavoice",
    "amrnb",
    "amrwb",
    "gsm",
    "gsm_ms",
    "libgsm",
    "libgsm_ms",
    "g722",
    "g726",
    "g726le",
    "adpcm_ms",
    "adpcm_ima_wav",
    "adpcm_ima_qt",
    "adpcm_swf",
    "adpcm_yamaha",
    "pcm_alaw",
    "pcm_mulaw",
    "pcm_s8",
    "pcm_u8",
    "pcm_s8_planar",
    "pcm_s16le",
    "pcm_s16be",
    "pcm_s16le_planar",
    "pcm_s16be_planar",
    "pcm_u16le",
    "pcm_u16be",
    "pcm_s24le",
    "pcm_s24be",
    "pcm_s24le_planar",
    "pcm_u24le",
    "pcm_u24be",
    "pcm_s32le",
    "pcm_s32be",
    "pcm_s32le_planar",
    "pcm_u32le",
    "pcm_u32be",
    "pcm_f32le",
    "pcm_f32be",
    "pcm_f64le",
    "pcm_f64be",
    "pcm_bluray",
    "pcm_dvd",
});

template <std::size_t N>
bool holds(const std::array<string_view, N>& table, string_view name) {
  return std::find(table.begin(), table.end(), name) != table.end();
}

// FFmpeg joins the names of one demuxer with commas.
template <std::size_t N>
bool holds_any(const std::array<string_view, N>& table, string_view names) {
  while (!names.empty()) {
    const auto comma = names.find(',');
    if (holds(table, names.substr(0, comma))) return true;
    names = comma == string_view::npos ? string_view{} : names.substr(comma + 1);
  }
  return false;
}

template <std::size_t N>
std::string join(const std::array<string_view, N>& table) {
  std::string out;
  for (const auto name : table) {
    if (!out.empty()) out += ',';
    out += name;
  }
  return out;
}

}  // namespace

bool container_allowed(string_view name) { return holds_any(kContainers, name); }
bool still_allowed(string_view name) { return holds(kStills, name); }
bool body_allowed(string_view name) {
  return container_allowed(name) || holds_any(kHttpContainers, name);
}
bool is_unstamped(string_view name) { return name == "mpjpeg"; }
bool is_playlist(string_view name) { return holds_any(kPlaylists, name); }
bool decoder_allowed(string_view name) { return holds(kDecoders, name); }

std::string container_list() { return join(kContainers); }
std::string decoder_list() { return join(kDecoders); }

std::string scheme_name(string_view url) {
  const auto colon = url.find("://");
  if (colon == string_view::npos) return {};
  std::string scheme(url.substr(0, colon));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return scheme;
}

Scheme scheme_of(string_view url) {
  if (url.starts_with("/dev/video")) return Scheme::kDevice;
  const std::string scheme = scheme_name(url);
  if (scheme == "rtsp" || scheme == "rtsps") return Scheme::kRtsp;
  if (scheme == "rtmp" || scheme == "rtmps") return Scheme::kRtmp;
  if (scheme == "srt") return Scheme::kSrt;
  if (scheme == "http" || scheme == "https") return Scheme::kHttp;
  return Scheme::kUnknown;
}

NetworkRules rules_for(Scheme scheme) {
  switch (scheme) {
    case Scheme::kRtsp:
      return {"rtsp,rtsps,rtp,udp,tcp,tls", "rtsp,rtp,sdp", "rtsp"};
    case Scheme::kRtmp:
      return {"rtmp,rtmps,tcp,tls", "flv,live_flv", nullptr};
    case Scheme::kSrt:
      return {"srt", "mpegts", nullptr};
    case Scheme::kHttp:
      return {"http,https,tls,tcp,crypto", join(kHttpContainers) + "," + container_list(), nullptr};
    case Scheme::kDevice:
      return {"", "video4linux2,v4l2", "video4linux2"};
    case Scheme::kUnknown:
      break;
  }
  return {};
}

}  // namespace saccade::ingest
