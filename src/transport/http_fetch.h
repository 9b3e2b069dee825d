#pragma once
// One GET over http(s), streamed. Follows redirects itself, so that the token goes only to the host
// it is meant for, a redirect never leaves TLS, and the number of hops is bounded.
// Threads: any, one call per thread at a time; callbacks run on the calling thread.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace saccade::transport {

inline constexpr int kFetchRedirectsMax = 5;
inline constexpr long kFetchConnectSeconds = 15;
inline constexpr long kFetchStallSeconds = 30;  // less than 1 byte/s for so long = broken

struct FetchRequest {
  std::string url;
  std::string token;       // bearer; sent only while scheme, host and port are those of `url`
  std::uint64_t from = 0;  // first byte wanted
  // Called once before the body of a 2xx answer, with the byte the body really starts at (0 when
  // the server does not do ranges), then with its bytes in order. An error ends the fetch with it.
  std::function<core::Status(std::uint64_t from)> begin;
  std::function<core::Status(std::string_view bytes)> body;
  // Asked several times per second; false cancels. May be empty.
  std::function<bool()> keep_going;
};

// The final HTTP status; bodies of non-2xx answers are thrown away. Errors: kSourceUnreachable (no
// answer, broken off, bad redirect), kCancelled, kUsage (URL), or what a callback returned.
core::Result<long> fetch(const FetchRequest& request);

}  // namespace saccade::transport
