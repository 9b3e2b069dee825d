#include "transport/serve/http_text.h"

#include <array>
#include <charconv>
#include <utility>

namespace saccade::transport {

std::string_view reason_phrase(int status) {
  constexpr std::array<std::pair<int, std::string_view>, 23> kPhrases = {{
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {422, "Unprocessable Content"},
      {426, "Upgrade Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {499, "Client Closed Request"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  }};
  for (const auto& [code, phrase] : kPhrases) {
    if (code == status) return phrase;
  }
  return "Unknown";
}

std::string head_text(const HttpReply& reply, const HeadStyle& style) {
  std::string out = "HTTP/1.1 " + std::to_string(reply.status) + " " +
                    std::string(reason_phrase(reply.status)) + "\r\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  if (reply.status != 204 && reply.status != 304) {
    add("Content-Type", reply.content_type);
    if (style.chunked) {
      add("Transfer-Encoding", "chunked");
    } else {
      add("Content-Length", std::to_string(reply.body.size()));
    }
  }
  add("Connection", style.keep_alive ? "keep-alive" : "close");
  add("X-Content-Type-Options", "nosniff");
  if (!style.request_id.empty()) add("X-Request-Id", style.request_id);
  for (const auto& [name, value] : reply.headers) add(name, value);
  return out + "\r\n";
}

std::string chunk_text(std::string_view bytes) {
  std::array<char, 20> size{};
  const auto end = std::to_chars(size.begin(), size.end(), bytes.size(), 16).ptr;
  std::string out(size.data(), end);
  out.append("\r\n").append(bytes).append("\r\n");
  return out;
}

}  // namespace saccade::transport
