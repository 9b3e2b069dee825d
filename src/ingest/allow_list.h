#pragma once
// The only demuxers, decoders and protocols that untrusted bytes may reach. Everything absent here
// is refused: playlists and other formats that name further resources, JPEG 2000, subtitles,
// scripts, devices. A new entry needs a test input.
#include <string>
#include <string_view>

namespace saccade::ingest {

// FFmpeg demuxer names (any of a comma list) for recorded bytes.
bool container_allowed(std::string_view name);
// Still pictures read whole, not demuxed: "jpeg_pipe", "png_pipe", ...
bool still_allowed(std::string_view name);
// What an http(s) address may answer besides stills: containers, HLS and pictures one by one.
bool body_allowed(std::string_view name);
// Pictures that come without a time of their own.
bool is_unstamped(std::string_view name);
// Formats that name other resources: refused, but with a word of their own.
bool is_playlist(std::string_view name);

// Comma lists as FFmpeg's options take them.
std::string container_list();
std::string decoder_list();

// FFmpeg decoder name.
bool decoder_allowed(std::string_view name);

enum class Scheme { kRtsp, kRtmp, kSrt, kHttp, kDevice, kUnknown };
Scheme scheme_of(std::string_view url);
// "rtsps" for "RTSPS://host/x"; empty when there is none.
std::string scheme_name(std::string_view url);

// Protocols and demuxers a network scheme may use, itself and nested; empty = none.
struct NetworkRules {
  std::string protocols, containers;
  const char* forced_demuxer = nullptr;
};
NetworkRules rules_for(Scheme scheme);

}  // namespace saccade::ingest
