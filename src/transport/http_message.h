#pragma once
// A request and its reply as the rest of transport sees them: no sockets, no HTTP library.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace saccade::transport {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// Where a connection came in. Admin routes are answered on the admin listener, or with an admin
// key.
enum class ListenerKind { kTcp, kUnix, kAdmin };

struct HttpRequest {
  std::string method;   // as sent: "GET"
  std::string path;     // without the query, not decoded
  std::string query;    // without '?'
  HttpHeaders headers;  // names in lower case
  std::string body;
  ListenerKind listener = ListenerKind::kTcp;
  bool loopback_listener = false;         // only this machine can reach it
  std::string id;                         // X-Request-Id of the reply
  std::shared_ptr<const void> body_hold;  // counts the body against the server's bound; keep it
                                          // as long as what was made of the body

  // The first one of this name; empty when absent.
  std::string_view header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
};

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  HttpHeaders headers = {};  // further ones; values hold no line ends
};

// What a streamed reply still has to say. pull() is called on the I/O thread whenever the client
// can take more, so memory is bounded by what the source itself holds.
class ByteSource {
 public:
  struct Pulled {
    std::string bytes;  // nothing = wait for wake()
    bool end = false;   // no more after these
  };
  virtual ~ByteSource() = default;
  virtual Pulled pull() = 0;
};

struct StreamReply {
  HttpReply head = {};  // its body is not used
  std::shared_ptr<ByteSource> source = {};
  std::string ping = {};  // sent when nothing else was for kPingSeconds; empty = none
  // The head waits for the first byte or the first ping: until then reply() can still refuse.
  bool wait_for_first = false;
};

// One WebSocket as its user sees it: whole messages. All calls come on the I/O thread and must be
// quick.
class SocketSession {
 public:
  struct Pulled {
    std::string text;         // one message; empty = nothing now, wait for wake()
    int close = 0;            // after `text`: close with this code; 0 = go on
    std::string reason = {};  // of the close, at most 123 bytes
  };
  virtual ~SocketSession() = default;
  // Called whenever the client can take more.
  virtual Pulled pull() = 0;
  virtual void take(std::string message, bool binary) = 0;
  // Once, at the end, whatever ended it.
  virtual void closed() = 0;
};

struct SocketReply {
  std::shared_ptr<SocketSession> session = {};
  std::string protocol = {};          // of those the client offered; empty = none
  std::size_t message_bytes_max = 0;  // of one from the client, unpacked
};

// One request's way back. Threads: any may call anything.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // False when a reply or stream has begun already.
  virtual bool reply(HttpReply reply) = 0;
  virtual bool stream(StreamReply stream) = 0;
  // The connection becomes a WebSocket; the handshake must have been checked. Only from handle().
  virtual bool upgrade(SocketReply socket) = 0;
  // The stream's source, or the socket's session, has something new.
  virtual void wake() = 0;
  // The client went away or was too slow; nothing will reach it any more.
  virtual bool gone() const = 0;
  // Called at most once, on the I/O thread; at once when it is gone already.
  virtual void on_gone(std::function<void()> call) = 0;
  // Called once on the I/O thread after so long, unless the reply has ended before.
  virtual void after_ms(std::int64_t ms, std::function<void()> call) = 0;
};
using ExchangePtr = std::shared_ptr<Exchange>;

// What the HTTP server asks of its user. Both calls come on the I/O thread and must be quick.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  struct Verdict {
    bool accepted = false;
    HttpReply refusal = {};            // when not accepted
    std::uint64_t body_bytes_max = 0;  // of this route
  };
  // Looks at the head, before the body is read.
  virtual Verdict check(const HttpRequest& head) = 0;
  virtual void handle(HttpRequest request, ExchangePtr exchange) = 0;
  // For requests that never reach check(): malformed, too slow, too large.
  virtual HttpReply refuse(int status, const std::string& code, const std::string& message) = 0;
};

}  // namespace saccade::transport
