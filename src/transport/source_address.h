#pragma once
// Where a live stream may come from. The address is dialled by another parser than ours, so only
// addresses that every parser reads alike are taken, and only hosts the operator named. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace saccade::transport {

struct SourceAddress {
  std::string scheme, host;
  int port = 0;  // 0 = the scheme's own
};

// rtsp, rtsps, rtmp, rtmps, srt, http and https with a plain host and an optional user and port.
// Errors: kUsage (the address is never repeated: it may hold a password).
core::Result<SourceAddress> read_source_address(std::string_view url);

// `allowed` entries: "host" (any port), "host:port", or "*".
bool source_allowed(const SourceAddress& address, const std::vector<std::string>& allowed);

}  // namespace saccade::transport
