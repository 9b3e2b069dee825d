#pragma once
// HTTP/1.1 on TCP and unix sockets: framing, limits and time, nothing else. What a request means is
// the HttpHandler's business.
// Keep-alive; Content-Length and chunked bodies; Expect: 100-continue; HEAD; chunked streams with
// pings. A client that goes away is noticed at once, also while nothing is written to it.
// Limits, each with what happens:
//   kConnectionsMax     further ones are closed at once
//   kHeaderBytesMax, kHeaderLinesMax      431
//   kTargetBytesMax     414
//   body_bytes_max of the route           413, before a byte of the body is read
//   kBodiesBytesMax of all bodies that are held together   503
//   kHeadSeconds for a head, kBodyStallSeconds without a byte of the body   closed
//   fewer than kBodyBytesPerSecondMin of a body on average                  408
//   kWriteSeconds for a piece of up to kWriteBytes   the connection is closed, the work cancelled
//   kIdleSeconds between two requests     closed
// Threads: run() is the I/O thread; begin_drain and the Exchanges may be used from any.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "transport/http_message.h"

namespace saccade::transport {

inline constexpr std::size_t kConnectionsMax = 4096;
inline constexpr std::size_t kHeaderBytesMax = 32 << 10;
inline constexpr std::size_t kHeaderLinesMax = 100;
inline constexpr std::size_t kTargetBytesMax = 2048;
inline constexpr std::uint64_t kBodiesBytesMax = 1ULL << 30;
inline constexpr int kHeadSeconds = 10;
inline constexpr int kBodyStallSeconds = 10;
inline constexpr std::uint64_t kBodyBytesPerSecondMin = 1024;
inline constexpr int kWriteSeconds = 30;
inline constexpr std::size_t kWriteBytes = 64 << 10;
inline constexpr int kIdleSeconds = 60;
inline constexpr int kPingSeconds = 15;
inline constexpr int kSendBufferBytes = 64 << 10;  // of the kernel, per connection

struct Listen {
  ListenerKind kind = ListenerKind::kTcp;
  std::string host =
      {};        // address; or the path of a unix socket when `kind` is kUnix or it has a '/'
  int port = 0;  // 0 = any free one
};

class HttpServer {
 public:
  // `clock` must outlive it, `handler` must live until run() has returned; Exchanges may be used
  // as long as the server lives.
  HttpServer(HttpHandler& handler, const core::Clock& clock);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Opens a listener; call before run(). The port that was taken, 0 for a unix socket. Errors:
  // kUsage (no address), kSourceUnreachable (in use, no permission).
  core::Result<int> listen(const Listen& listen);

  // Serves until a drain is over.
  void run();

  // No new connections; idle ones are closed, running requests end, then run() returns; at the
  // latest after `grace_ms`, when what is left is cut off. Any thread; the first call counts.
  void begin_drain(std::int64_t grace_ms);

  // Connections now; any thread.
  std::size_t connections() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::transport
