#include "transport/serve/web_socket.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <utility>

#include "transport/serve/http_server.h"

namespace saccade::transport {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
// A buffer that has grown beyond this for one message is not kept for the next.
constexpr std::size_t kBufferKeptBytes = 1 << 20;

http::request<http::empty_body> request_of(const HttpRequest& head) {
  http::request<http::empty_body> out{http::verb::get, head.path, 11};
  for (const auto& [name, value] : head.headers) out.insert(name, value);
  return out;
}

class WebSocket final : public std::enable_shared_from_this<WebSocket> {
 public:
  explicit WebSocket(WebSocketParts parts)
      : parts_(std::move(parts)), socket_(parts_.stream), guard_(parts_.stream.get_executor()) {}

  asio::awaitable<void> run() {
    const auto self = shared_from_this();
    set_options();
    const auto [error] = co_await socket_.async_accept(request_of(parts_.head), kAwait);
    if (!error) {
      reading_ = true;
      asio::co_spawn(
          parts_.stream.get_executor(), [self] { return self->read_all(); }, asio::detached);
      co_await write_all();
    }
    parts_.reply.session->closed();
    close_connection();
    // The reader borrows the connection, too.
    while (reading_) {
      parts_.exchange->bell().expires_at(asio::steady_timer::time_point::max());
      co_await parts_.exchange->bell().async_wait(kAwait);
    }
  }

 private:
  void set_options() {
    websocket::stream_base::timeout times;
    times.handshake_timeout = std::chrono::seconds(kCloseSeconds);
    times.idle_timeout = std::chrono::seconds(2 * kPingSeconds);  // pings after half of it
    times.keep_alive_pings = true;
    socket_.set_option(times);
    websocket::permessage_deflate pack;
    pack.server_enable = true;
    pack.server_max_window_bits = kPackWindowBits;
    pack.client_max_window_bits = kPackWindowBits;
    pack.compLevel = kPackLevel;
    pack.memLevel = kPackMemory;
    pack.msg_size_threshold = kPackBytesMin;
    socket_.set_option(pack);
    socket_.read_message_max(parts_.reply.message_bytes_max);
    socket_.set_option(websocket::stream_base::decorator(
        [protocol = parts_.reply.protocol, id = parts_.head.id](websocket::response_type& reply) {
          reply.erase(http::field::server);
          if (!protocol.empty()) reply.set(http::field::sec_websocket_protocol, protocol);
          reply.set("X-Request-Id", id);
        }));
  }

  asio::awaitable<void> read_all() {
    const auto self = shared_from_this();
    beast::flat_buffer buffer;
    for (;;) {
      const auto [error, bytes] = co_await socket_.async_read(buffer, kAwait);
      if (error) break;
      parts_.reply.session->take(
          std::string(static_cast<const char*>(buffer.data().data()), buffer.size()),
          socket_.got_binary());
      parts_.exchange->bell().cancel();  // there may be an answer
      buffer.clear();
      if (buffer.capacity() > kBufferKeptBytes) buffer.shrink_to_fit();
    }
    reading_ = false;
    parts_.exchange->bell().cancel();
  }

  asio::awaitable<void> write_all() {
    while (reading_) {
      SocketSession::Pulled out = parts_.reply.session->pull();
      const bool wrote = !out.text.empty();
      if (wrote && !co_await write(std::move(out.text))) break;
      if (out.close != 0) {
        const websocket::close_reason reason(static_cast<websocket::close_code>(out.close),
                                             out.reason);
        co_await socket_.async_close(reason, kAwait);
        break;
      }
      if (wrote) continue;
      parts_.exchange->bell().expires_at(asio::steady_timer::time_point::max());
      co_await parts_.exchange->bell().async_wait(kAwait);
    }
  }

  asio::awaitable<bool> write(std::string text) {
    guard_.expires_after(std::chrono::seconds(kWriteSeconds));
    guard_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->close_connection();
    });
    socket_.text(true);
    const auto [error, bytes] = co_await socket_.async_write(asio::buffer(text), kAwait);
    guard_.cancel();
    co_return !error;
  }

  void close_connection() {
    boost::system::error_code ignored;
    parts_.stream.socket().close(ignored);
  }

  WebSocketParts parts_;
  websocket::stream<AnyStream&> socket_;
  asio::steady_timer guard_;  // over one write
  bool reading_ = false;
};

}  // namespace

asio::awaitable<void> serve_web_socket(WebSocketParts parts) {
  const auto socket = std::make_shared<WebSocket>(std::move(parts));
  co_await socket->run();
}

}  // namespace saccade::transport
