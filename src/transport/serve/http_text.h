#pragma once
// Heads and chunks of replies as bytes. Pure.
#include <string>
#include <string_view>

#include "transport/http_message.h"

namespace saccade::transport {

// "Not Found"; "Unknown" for codes nobody uses.
std::string_view reason_phrase(int status);

struct HeadStyle {
  bool keep_alive = true;
  bool chunked = false;         // no length is known
  std::string request_id = {};  // X-Request-Id; empty = none
};
// Status line and headers up to the empty line.
std::string head_text(const HttpReply& reply, const HeadStyle& style);

// One chunk of a chunked body; an empty one would end it and is not made.
std::string chunk_text(std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace saccade::transport
