#include "transport/serve/connection.h"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <utility>

#include "transport/ascii_text.h"
#include "transport/serve/http_server.h"
#include "transport/serve/http_text.h"
#include "transport/serve/web_socket.h"

namespace saccade::transport {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kLingerBytesMax = 8 << 20;
constexpr std::chrono::seconds kLinger{2};
constexpr std::size_t kRequestIdBytesMax = 128;

using Parser = http::request_parser<http::string_body>;

// Counts bytes against the bound of the server for as long as it lives.
class BodyHold {
 public:
  explicit BodyHold(std::shared_ptr<std::atomic<std::uint64_t>> total) : total_(std::move(total)) {}
  ~BodyHold() { *total_ -= held_; }
  BodyHold(const BodyHold&) = delete;
  BodyHold& operator=(const BodyHold&) = delete;
  // False when the bound is reached; nothing is then added.
  bool grow_to(std::uint64_t bytes) {
    if (bytes <= held_) return true;
    const std::uint64_t more = bytes - held_;
    if (*total_ + more > kBodiesBytesMax) return false;
    *total_ += more;
    held_ = bytes;
    return true;
  }

 private:
  const std::shared_ptr<std::atomic<std::uint64_t>> total_;
  std::uint64_t held_ = 0;
};

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= kRequestIdBytesMax &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
             ":/") == text.npos;
}

HttpRequest request_of(const Parser& parser) {
  HttpRequest out;
  const auto& message = parser.get();
  out.method = std::string(message.method_string());
  const std::string target(message.target());
  const std::size_t mark = target.find('?');
  out.path = target.substr(0, mark);
  if (mark != target.npos) out.query = target.substr(mark + 1);
  for (const auto& field : message) {
    out.headers.emplace_back(lower(field.name_string()), std::string(field.value()));
  }
  return out;
}

}  // namespace

bool ConnectionExchange::reply(HttpReply reply) {
  {
    const std::lock_guard lock(mutex_);
    if (begun_) return false;
    begun_ = true;
    reply_ = std::move(reply);
    stream_.reset();
  }
  ring();
  return true;
}

bool ConnectionExchange::stream(StreamReply stream) {
  {
    const std::lock_guard lock(mutex_);
    if (begun_ || stream_) return false;
    begun_ = !stream.wait_for_first;
    stream_ = std::move(stream);
  }
  ring();
  return true;
}

bool ConnectionExchange::upgrade(SocketReply socket) {
  const std::lock_guard lock(mutex_);
  if (begun_ || stream_) return false;
  begun_ = true;
  socket_ = std::move(socket);
  return true;
}

void ConnectionExchange::wake() { ring(); }

void ConnectionExchange::ring() {
  asio::post(io_, [self = shared_from_this()] { self->bell_.cancel(); });
}

void ConnectionExchange::on_gone(std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    if (!gone_) {
      on_gone_ = std::move(call);
      return;
    }
  }
  asio::post(io_, std::move(call));
}

void ConnectionExchange::after_ms(std::int64_t ms, std::function<void()> call) {
  asio::post(io_, [self = shared_from_this(), ms, call = std::move(call)]() mutable {
    if (self->done_) return;
    self->alarm_ = std::make_shared<asio::steady_timer>(self->io_, std::chrono::milliseconds(ms));
    self->alarm_->async_wait([call = std::move(call)](const boost::system::error_code& error) {
      if (!error) call();
    });
  });
}

std::optional<HttpReply> ConnectionExchange::take_reply() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reply_, std::nullopt);
}

std::optional<SocketReply> ConnectionExchange::take_socket() {
  const std::lock_guard lock(mutex_);
  return std::exchange(socket_, std::nullopt);
}

std::optional<ConnectionExchange::Begun> ConnectionExchange::take_stream(bool ping_due) {
  const std::lock_guard lock(mutex_);
  if (!stream_) return std::nullopt;
  Begun begun;
  if (stream_->wait_for_first) {
    begun.first = stream_->source->pull();
    if (begun.first.bytes.empty() && !begun.first.end && !ping_due) return std::nullopt;
  }
  begun_ = true;
  begun.stream = std::move(*stream_);
  stream_.reset();
  return begun;
}

void ConnectionExchange::mark_gone() {
  std::function<void()> call;
  {
    const std::lock_guard lock(mutex_);
    if (gone_.exchange(true)) return;
    call = std::exchange(on_gone_, nullptr);
  }
  if (call) call();
  bell_.cancel();
}

void ConnectionExchange::mark_done() {
  done_ = true;
  if (alarm_) alarm_->cancel();
  const std::lock_guard lock(mutex_);
  on_gone_ = nullptr;
}

// Reads one body in pieces, so that a slow one can be told from a large one.
class Connection::Body {
 public:
  Body(Connection& connection, Parser& parser, std::uint64_t bytes_max)
      : connection_(connection),
        parser_(parser),
        bytes_max_(bytes_max),
        hold_(std::make_shared<BodyHold>(connection.share_.body_bytes)) {}

  asio::awaitable<std::optional<HttpReply>> read() {
    if (auto refusal = check_size(parser_.content_length().value_or(0))) co_return refusal;
    const core::SteadyTime began = connection_.share_.clock.now();
    while (!parser_.is_done()) {
      connection_.stream_.expires_after(std::chrono::seconds(kBodyStallSeconds));
      const auto [error, bytes] =
          co_await http::async_read_some(connection_.stream_, connection_.buffer_, parser_, kAwait);
      if (error) {
        // Status 0: the client has gone or stalled, and there is nobody to tell.
        HttpReply broken{.status = 0};
        if (auto told = connection_.explain(error)) broken = std::move(*told);
        co_return broken;
      }
      const std::uint64_t size = parser_.get().body().size();
      if (auto refusal = check_size(size)) co_return refusal;
      const double seconds = core::ms_between(began, connection_.share_.clock.now()) / 1e3;
      if (seconds > kBodyStallSeconds &&
          static_cast<double>(size) < seconds * static_cast<double>(kBodyBytesPerSecondMin)) {
        co_return too_slow();
      }
    }
    co_return std::nullopt;
  }
  std::shared_ptr<const void> hold() const { return hold_; }

 private:
  HttpReply refuse(int status, const char* code, const std::string& message) const {
    return connection_.share_.handler.refuse(status, code, message);
  }
  HttpReply too_slow() const { return refuse(408, "body_too_slow", "the body came too slowly"); }
  HttpReply too_large() const {
    return refuse(413, "body_too_large",
                  bytes_max_ == 0 ? "this route takes no body"
                                  : "the body is larger than " + std::to_string(bytes_max_) +
                                        " bytes, the most this route takes");
  }
  std::optional<HttpReply> check_size(std::uint64_t bytes) {
    if (bytes > bytes_max_) return too_large();
    if (hold_->grow_to(bytes)) return std::nullopt;
    HttpReply busy = refuse(503, "bodies_exhausted", "too many large requests are under way");
    busy.headers.emplace_back("Retry-After", "2");
    return busy;
  }

  Connection& connection_;
  Parser& parser_;
  const std::uint64_t bytes_max_;
  const std::shared_ptr<BodyHold> hold_;
};

asio::awaitable<void> Connection::run() {
  const auto self = shared_from_this();
  bool open = true;
  while (open && !share_.draining) {
    idle_ = true;
    auto incoming = co_await read_request();
    if (!incoming) break;
    idle_ = false;
    first_ = false;
    if (incoming->refusal) {
      HttpReply refusal = std::move(*incoming->refusal);
      open = co_await send_reply(*incoming, std::move(refusal));
      continue;
    }
    Incoming request = std::move(*incoming);
    open = co_await answer(std::move(request));
  }
  boost::system::error_code ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_both, ignored);
  stream_.socket().close(ignored);
}

// What to tell a client whose head cannot be read; nothing when it has gone or was too slow (the
// stream is closed by then).
std::optional<HttpReply> Connection::explain(const boost::system::error_code& error) const {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return share_.handler.refuse(
        431, "head_too_large",
        "the request's head is larger than " + std::to_string(kHeaderBytesMax) + " bytes");
  }
  if (error == http::error::body_limit) {
    return share_.handler.refuse(413, "body_too_large", "the body is too large");
  }
  const bool of_http =
      error.category() == http::make_error_code(http::error::bad_method).category();
  if (!of_http || error == http::error::end_of_stream || error == http::error::partial_message) {
    return std::nullopt;
  }
  return share_.handler.refuse(400, "malformed_http", "the request is no valid HTTP/1.1");
}

void Connection::judge(Incoming& incoming, std::size_t target_bytes,
                       std::uint64_t& body_bytes_max) {
  const auto refuse = [&](int status, const char* code, const std::string& message) {
    incoming.refusal = share_.handler.refuse(status, code, message);
  };
  if (target_bytes > kTargetBytesMax) return refuse(414, "target_too_long", "the address is long");
  if (incoming.request.headers.size() > kHeaderLinesMax) {
    return refuse(431, "head_too_large",
                  "the request has more than " + std::to_string(kHeaderLinesMax) + " header lines");
  }
  if (!incoming.request.path.starts_with('/')) {
    return refuse(400, "malformed_http", "the address is no path");
  }
  HttpHandler::Verdict verdict = share_.handler.check(incoming.request);
  body_bytes_max = verdict.body_bytes_max;
  if (!verdict.accepted) incoming.refusal = std::move(verdict.refusal);
}

asio::awaitable<std::optional<Connection::Incoming>> Connection::read_request() {
  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(kHeaderBytesMax));
  parser.body_limit(kBodiesBytesMax);
  buffer_.max_size(kHeaderBytesMax + kWriteBytes);
  stream_.expires_after(std::chrono::seconds(first_ ? kHeadSeconds : kIdleSeconds));
  const auto [error, bytes] = co_await http::async_read_header(stream_, buffer_, parser, kAwait);
  if (error) {
    if (auto refusal = explain(error)) co_await refuse(std::move(*refusal));
    co_return std::nullopt;
  }
  idle_ = false;
  Incoming incoming;
  incoming.request = request_of(parser);
  incoming.request.listener = origin_.kind;
  incoming.request.loopback_listener = origin_.loopback;
  incoming.keep_alive = parser.get().keep_alive();
  incoming.head_only = parser.get().method() == http::verb::head;
  incoming.chunks = parser.get().version() >= 11;
  const std::string_view given = incoming.request.header("x-request-id");
  incoming.id =
      is_request_id(given) ? std::string(given) : "req-" + std::to_string(share_.next_request++);
  incoming.request.id = incoming.id;

  std::uint64_t body_bytes_max = 0;
  judge(incoming, parser.get().target().size(), body_bytes_max);
  if (incoming.refusal) {
    if (parser.is_done()) co_return incoming;  // nothing unread: the connection can go on
    HttpReply refusal = std::move(*incoming.refusal);
    co_await refuse(std::move(refusal));
    co_return std::nullopt;
  }
  const bool waits = lower(incoming.request.header("expect")) == "100-continue";
  if (!parser.is_done() && waits && parser.content_length().value_or(0) <= body_bytes_max) {
    if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n")) co_return std::nullopt;
  }
  Body body(*this, parser, body_bytes_max);
  if (auto bad = co_await body.read()) {
    HttpReply refusal = std::move(*bad);
    if (refusal.status != 0) co_await refuse(std::move(refusal));
    co_return std::nullopt;
  }
  incoming.request.body = std::move(parser.get().body());
  incoming.request.body_hold = body.hold();
  co_return incoming;
}

// What is left of the request is not read: the connection ends with the reply.
asio::awaitable<void> Connection::refuse(HttpReply reply) {
  Incoming incoming;
  incoming.keep_alive = false;
  co_await send_reply(incoming, std::move(reply));
  co_await linger();
}

asio::awaitable<bool> Connection::answer(Incoming incoming) {
  const auto exchange = std::make_shared<ConnectionExchange>(share_.io);
  exchange_ = exchange;
  // A handshake that is accepted is answered from the head; it has no body.
  HttpRequest head;
  if (incoming.request.body.empty()) head = incoming.request;
  HttpRequest request = std::move(incoming.request);
  share_.handler.handle(std::move(request), exchange);
  stream_.expires_never();
  bool open = false;
  if (auto socket = exchange->take_socket()) {
    // Bytes behind the head would be messages that the client may not send yet.
    if (buffer_.size() == 0) {
      WebSocketParts parts{.stream = stream_,
                           .head = std::move(head),
                           .reply = std::move(*socket),
                           .exchange = exchange,
                           .owner = shared_from_this()};
      co_await serve_web_socket(std::move(parts));
    } else {
      socket->session->closed();
    }
  } else {
    open = co_await send_answer(incoming);
  }
  if (!open) exchange->mark_gone();
  exchange->mark_done();
  exchange_.reset();
  if (std::exchange(watching_, false)) {
    boost::system::error_code ignored;
    stream_.socket().cancel(ignored);
  }
  co_return open&& incoming.keep_alive;
}

// Waits for the reply, or for the beginning of a streamed one, and sends it.
asio::awaitable<bool> Connection::send_answer(const Incoming& incoming) {
  const auto exchange = exchange_;
  watch();
  bool ping_due = false;
  exchange->bell().expires_after(std::chrono::seconds(kPingSeconds));
  while (!exchange->gone()) {
    if (auto reply = exchange->take_reply()) {
      HttpReply sent = std::move(*reply);
      co_return co_await send_reply(incoming, std::move(sent));
    }
    if (auto begun = exchange->take_stream(ping_due)) {
      ConnectionExchange::Begun stream = std::move(*begun);
      co_return co_await send_stream(incoming, std::move(stream));
    }
    const auto [error] = co_await exchange->bell().async_wait(kAwait);
    ping_due = !error;
    if (ping_due) exchange->bell().expires_after(std::chrono::seconds(kPingSeconds));
  }
  co_return false;
}

asio::awaitable<bool> Connection::send_reply(const Incoming& incoming, HttpReply reply) {
  HeadStyle style;
  style.keep_alive = incoming.keep_alive && !share_.draining;
  style.request_id = incoming.id;
  std::string bytes = head_text(reply, style);
  if (!incoming.head_only && reply.status != 204 && reply.status != 304) bytes += reply.body;
  co_return co_await write(std::move(bytes)) && style.keep_alive;
}

asio::awaitable<bool> Connection::send_stream(const Incoming& incoming,
                                              ConnectionExchange::Begun begun) {
  const auto exchange = exchange_;
  HeadStyle style;
  style.chunked = incoming.chunks;
  style.keep_alive = incoming.chunks && incoming.keep_alive && !share_.draining;
  style.request_id = incoming.id;
  if (!co_await write(head_text(begun.stream.head, style))) co_return false;
  if (incoming.head_only) co_return false;
  ByteSource::Pulled pulled = std::move(begun.first);
  bool ping_due = false;
  for (;;) {
    if (ping_due && pulled.bytes.empty() && !pulled.end) pulled.bytes = begun.stream.ping;
    if (!pulled.bytes.empty()) {
      std::string bytes = incoming.chunks ? chunk_text(pulled.bytes) : std::move(pulled.bytes);
      if (!co_await write(std::move(bytes))) co_return false;
      exchange->bell().expires_after(std::chrono::seconds(kPingSeconds));
    }
    if (pulled.end) break;
    if (exchange->gone()) co_return false;
    pulled = begun.stream.source->pull();
    ping_due = false;
    if (!pulled.bytes.empty() || pulled.end) continue;
    const auto [error] = co_await exchange->bell().async_wait(kAwait);
    ping_due = !error;
    if (ping_due) exchange->bell().expires_after(std::chrono::seconds(kPingSeconds));
    if (exchange->gone()) co_return false;
    if (!ping_due) pulled = begun.stream.source->pull();
  }
  if (!incoming.chunks) co_return false;
  co_return co_await write(std::string(kLastChunk)) && style.keep_alive;
}

asio::awaitable<bool> Connection::write(std::string bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += kWriteBytes) {
    stream_.expires_after(std::chrono::seconds(kWriteSeconds));
    const auto piece = asio::buffer(bytes.data() + at, std::min(kWriteBytes, bytes.size() - at));
    const auto [error, sent] = co_await asio::async_write(stream_, piece, kAwait);
    if (error) co_return false;
  }
  stream_.expires_never();
  co_return true;
}

// Closing with unread bytes would reset the connection and the client might never see the reply.
asio::awaitable<void> Connection::linger() {
  boost::system::error_code ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  stream_.expires_after(kLinger);
  std::string scratch(kWriteBytes, '\0');
  for (std::size_t total = 0; total < kLingerBytesMax;) {
    const auto [error, bytes] = co_await stream_.async_read_some(asio::buffer(scratch), kAwait);
    if (error) break;
    total += bytes;
  }
}

// A client that closes shows as readable with nothing to read.
void Connection::watch() {
  watching_ = true;
  stream_.socket().async_wait(
      asio::socket_base::wait_read,
      [self = shared_from_this(), of = exchange_](const boost::system::error_code& error) {
        if (!error && self->watching_ && self->exchange_ == of) self->on_readable();
      });
}

void Connection::on_readable() {
  watching_ = false;
  char byte = 0;
  const auto got = recv(stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return;  // the next request is already here; it will be read in its turn
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return watch();
  exchange_->mark_gone();
}

void Connection::drain() {
  if (idle_) stream_.cancel();
}

void Connection::cut() {
  if (exchange_) exchange_->mark_gone();
  boost::system::error_code ignored;
  stream_.socket().close(ignored);
}

}  // namespace saccade::transport
