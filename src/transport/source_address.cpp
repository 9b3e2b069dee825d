#include "transport/source_address.h"

#include <algorithm>
#include <array>

#include "transport/ascii_text.h"

namespace saccade::transport {
namespace {

constexpr std::array<std::string_view, 7> kSchemes = {"rtsp", "rtsps", "rtmp", "rtmps",
                                                      "srt",  "http",  "https"};
constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool only(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return kLetters.find(c) != kLetters.npos || more.find(c) != more.npos;
  });
}

core::Error bad(const std::string& what) {
  return core::error(core::ErrorCode::kUsage, "the source's address " + what,
                     "write scheme://[user:password@]host[:port]/path");
}

core::Result<int> read_port(std::string_view text) {
  const auto port = whole_number<int>(text);
  if (!port || *port < 1 || *port > 65'535) return bad("has a port that is none of 1..65535");
  return *port;
}

}  // namespace

core::Result<SourceAddress> read_source_address(std::string_view url) {
  const bool printable =
      std::all_of(url.begin(), url.end(), [](unsigned char c) { return c > 0x20 && c < 0x7F; });
  if (!printable || url.find('\\') != url.npos) {
    return bad("holds spaces, backslashes or characters that are not ASCII");
  }
  SourceAddress out;
  const std::size_t mark = url.find("://");
  out.scheme = std::string(url.substr(0, mark));
  if (mark == url.npos ||
      std::find(kSchemes.begin(), kSchemes.end(), out.scheme) == kSchemes.end()) {
    return bad("has none of the schemes rtsp, rtsps, rtmp, rtmps, srt, http, https");
  }
  std::string_view authority = url.substr(mark + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (const std::size_t at = authority.rfind('@'); at != authority.npos) {
    if (!only(authority.substr(0, at), "-._~!$&'()*+,;=:%")) return bad("has a strange user part");
    authority.remove_prefix(at + 1);
  }
  const bool six = authority.starts_with('[');
  const std::size_t colon = six ? authority.find("]:") : authority.find(':');
  std::string_view host = authority.substr(0, colon == authority.npos ? colon : colon + six);
  if (colon != authority.npos) {
    const auto port = read_port(authority.substr(colon + 1 + six));
    if (!port) return port.error();
    out.port = *port;
  }
  const bool plain =
      six ? host.size() > 2 && host.ends_with(']') && only(host.substr(1, host.size() - 2), ":.")
          : !host.empty() && only(host, "-.");
  if (!plain) return bad("names no plain host");
  out.host = std::string(host);
  return out;
}

bool source_allowed(const SourceAddress& address, const std::vector<std::string>& allowed) {
  return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& entry) {
    return entry == "*" || entry == address.host ||
           (address.port > 0 && entry == address.host + ":" + std::to_string(address.port));
  });
}

}  // namespace saccade::transport
