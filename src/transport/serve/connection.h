#pragma once
// One client's connection as a coroutine: request in, reply out, again. Only http_server.cpp and
// connection.cpp see Boost.
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/clock.h"
#include "transport/http_message.h"

namespace saccade::transport {

namespace asio = boost::asio;

using AnySocket = asio::generic::stream_protocol::socket;
using AnyStream = boost::beast::basic_stream<asio::generic::stream_protocol>;

// What all connections of a server share. I/O thread, except where it says so.
struct ServerShare {
  asio::io_context& io;
  HttpHandler& handler;
  const core::Clock& clock;
  bool draining = false;
  // Of all bodies held; any thread gives back.
  std::shared_ptr<std::atomic<std::uint64_t>> body_bytes =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  std::uint64_t next_request = 1;
};

// The way back of one request. Its timer is the connection's bell: whoever has news cancels it.
class ConnectionExchange final : public Exchange,
                                 public std::enable_shared_from_this<ConnectionExchange> {
 public:
  explicit ConnectionExchange(asio::io_context& io) : io_(io), bell_(io) {}

  bool reply(HttpReply reply) override;
  bool stream(StreamReply stream) override;
  bool upgrade(SocketReply socket) override;
  void wake() override;
  bool gone() const override { return gone_; }
  void on_gone(std::function<void()> call) override;
  void after_ms(std::int64_t ms, std::function<void()> call) override;

  // What came of the request; taken once. I/O thread, like everything below.
  std::optional<HttpReply> take_reply();
  std::optional<SocketReply> take_socket();
  struct Begun {
    StreamReply stream;
    ByteSource::Pulled first;
  };
  std::optional<Begun> take_stream(bool ping_due);
  void mark_gone();
  void mark_done();
  asio::steady_timer& bell() { return bell_; }

 private:
  void ring();

  asio::io_context& io_;
  asio::steady_timer bell_;
  std::atomic<bool> gone_{false};
  bool done_ = false;                          // I/O thread
  std::shared_ptr<asio::steady_timer> alarm_;  // I/O thread

  std::mutex mutex_;  // guards everything below
  std::optional<HttpReply> reply_;
  std::optional<StreamReply> stream_;
  std::optional<SocketReply> socket_;
  bool begun_ = false;  // a reply or stream was given, or is on its way to the client
  std::function<void()> on_gone_;
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  struct Origin {
    ListenerKind kind = ListenerKind::kTcp;
    bool loopback = false;
  };
  Connection(AnySocket socket, Origin origin, ServerShare& share)
      : stream_(std::move(socket)), origin_(origin), share_(share) {}

  asio::awaitable<void> run();
  // Between two requests: closed at once. Else: after the reply.
  void drain();
  // At once.
  void cut();

 private:
  struct Incoming {
    HttpRequest request;
    bool keep_alive = true, head_only = false, chunks = true;
    std::string id;
    std::optional<HttpReply> refusal;  // from the head alone, and no body follows
  };

  class Body;

  asio::awaitable<std::optional<Incoming>> read_request();
  void judge(Incoming& incoming, std::size_t target_bytes, std::uint64_t& body_bytes_max);
  asio::awaitable<void> refuse(HttpReply reply);
  std::optional<HttpReply> explain(const boost::system::error_code& error) const;
  asio::awaitable<bool> answer(Incoming incoming);
  asio::awaitable<bool> send_answer(const Incoming& incoming);
  asio::awaitable<bool> send_reply(const Incoming& incoming, HttpReply reply);
  asio::awaitable<bool> send_stream(const Incoming& incoming, ConnectionExchange::Begun begun);
  asio::awaitable<bool> write(std::string bytes);
  asio::awaitable<void> linger();
  void watch();
  void on_readable();

  AnyStream stream_;
  boost::beast::flat_buffer buffer_;
  const Origin origin_;
  ServerShare& share_;
  std::shared_ptr<ConnectionExchange> exchange_;  // of the request being answered
  bool idle_ = true, watching_ = false, first_ = true;
};

}  // namespace saccade::transport
