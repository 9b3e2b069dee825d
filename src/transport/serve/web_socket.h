#pragma once
// A connection that has become a WebSocket: whole messages between Boost.Beast and a SocketSession.
// Messages are packed (permessage-deflate) when the client offers it; a message is bounded after it
// was unpacked, so a small one cannot become a large one.
// Limits, each with what happens:
//   message_bytes_max of the reply    closed with 1009
//   kPingSeconds without a byte from the client: a ping; as long again: the connection is closed
//   kWriteSeconds for one message to the client: the connection is closed
//   kCloseSeconds for the client's answer to a close: the connection is closed
// Threads: I/O.
#include <memory>

#include "transport/http_message.h"
#include "transport/serve/connection.h"

namespace saccade::transport {

inline constexpr int kCloseSeconds = 5;
// Packing: at most 2^11 bytes are looked back on, texts shorter than this are sent as they are.
inline constexpr int kPackWindowBits = 11, kPackLevel = 3, kPackMemory = 4;
inline constexpr std::size_t kPackBytesMin = 256;

// The handshake to answer and what belongs to the connection.
struct WebSocketParts {
  AnyStream& stream;
  HttpRequest head;
  SocketReply reply;
  std::shared_ptr<ConnectionExchange> exchange;
  std::shared_ptr<void> owner;  // of `stream`
};

// Answers the handshake and serves the session until either side closes.
asio::awaitable<void> serve_web_socket(WebSocketParts parts);

}  // namespace saccade::transport
