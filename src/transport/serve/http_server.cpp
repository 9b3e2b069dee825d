#include "transport/serve/http_server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <map>
#include <utility>

#include "transport/access.h"
#include "transport/serve/connection.h"

namespace saccade::transport {
namespace {

using asio::ip::tcp;
using Local = asio::local::stream_protocol;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
// After a failed accept (no descriptors left, for instance): others may free some meanwhile.
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr int kBacklog = 512;

core::Error cannot_listen(const std::string& where, const boost::system::error_code& error) {
  return core::error(core::ErrorCode::kSourceUnreachable,
                     "cannot listen on " + where + ": " + error.message(),
                     "choose another address with --host and --port");
}

}  // namespace

struct HttpServer::State {
  State(HttpHandler& handler, const core::Clock& clock)
      : share{.io = io, .handler = handler, .clock = clock}, grace(io) {}

  template <typename Acceptor>
  asio::awaitable<void> accept_loop(std::shared_ptr<Acceptor> acceptor, Connection::Origin origin) {
    asio::steady_timer pause(io);
    while (!share.draining) {
      auto [error, socket] = co_await acceptor->async_accept(kAwait);
      if (share.draining) break;
      if (error) {
        pause.expires_after(kAcceptPause);
        co_await pause.async_wait(kAwait);
        continue;
      }
      if (open.size() < kConnectionsMax) start(AnySocket(std::move(socket)), origin);
    }
  }

  void start(AnySocket socket, Connection::Origin origin) {
    boost::system::error_code ignored;
    socket.set_option(asio::socket_base::send_buffer_size(kSendBufferBytes), ignored);
    if (origin.kind != ListenerKind::kUnix) socket.set_option(tcp::no_delay(true), ignored);
    const auto connection = std::make_shared<Connection>(std::move(socket), origin, share);
    open.emplace(connection.get(), connection);
    count = open.size();
    asio::co_spawn(io, connection->run(),
                   [this, key = connection.get()](const std::exception_ptr&) {
                     open.erase(key);
                     count = open.size();
                   });
  }

  template <typename Protocol>
  core::Result<std::shared_ptr<asio::basic_socket_acceptor<Protocol>>> open_acceptor(
      const typename Protocol::endpoint& endpoint, const std::string& where) {
    auto acceptor = std::make_shared<asio::basic_socket_acceptor<Protocol>>(io);
    boost::system::error_code error;
    acceptor->open(endpoint.protocol(), error);
    if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor->bind(endpoint, error);
    if (!error) acceptor->listen(kBacklog, error);
    if (error) return cannot_listen(where, error);
    closers.push_back([acceptor] {
      boost::system::error_code ignored;
      acceptor->close(ignored);
    });
    return acceptor;
  }

  core::Result<int> listen_tcp(const Listen& listen) {
    boost::system::error_code error;
    const std::string host = listen.host == "localhost" ? "127.0.0.1" : listen.host;
    const auto address = asio::ip::make_address(host, error);
    if (error) {
      return core::error(core::ErrorCode::kUsage,
                         "'" + listen.host + "' is no address to listen on",
                         "give a number like 127.0.0.1 or 0.0.0.0, or the path of a socket");
    }
    const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(listen.port));
    auto acceptor = open_acceptor<tcp>(endpoint, listen.host + ":" + std::to_string(listen.port));
    if (!acceptor) return acceptor.error();
    const int port = (*acceptor)->local_endpoint(error).port();
    const Connection::Origin origin{listen.kind, address.is_loopback()};
    asio::co_spawn(io, accept_loop(*acceptor, origin), asio::detached);
    return port;
  }

  core::Result<int> listen_local(const Listen& listen) {
    if (listen.host.size() > 100) {
      return core::error(core::ErrorCode::kUsage, "the socket's path is longer than 100 bytes");
    }
    struct stat facts = {};
    if (lstat(listen.host.c_str(), &facts) == 0) {
      // Left by a server that was killed, or in use?
      boost::system::error_code error;
      Local::socket probe(io);
      probe.connect(Local::endpoint(listen.host), error);
      if (!S_ISSOCK(facts.st_mode) || !error) {
        return core::error(core::ErrorCode::kSourceUnreachable, listen.host + " is in use",
                           "choose another path, or stop the other server");
      }
      unlink(listen.host.c_str());
    }
    auto acceptor = open_acceptor<Local>(Local::endpoint(listen.host), listen.host);
    if (!acceptor) return acceptor.error();
    chmod(listen.host.c_str(), S_IRUSR | S_IWUSR);
    closers.push_back([path = listen.host] { unlink(path.c_str()); });
    const Connection::Origin origin{
        listen.kind == ListenerKind::kAdmin ? ListenerKind::kAdmin : ListenerKind::kUnix, true};
    asio::co_spawn(io, accept_loop(*acceptor, origin), asio::detached);
    return 0;
  }

  void drain(std::int64_t grace_ms) {
    if (std::exchange(share.draining, true)) return;
    for (const auto& close : closers) close();
    for_each_open([](Connection& connection) { connection.drain(); });
    grace.expires_after(std::chrono::milliseconds(grace_ms));
    grace.async_wait([this](const boost::system::error_code& error) {
      if (!error) for_each_open([](Connection& connection) { connection.cut(); });
    });
    watch_end();
  }

  // run() ends when nothing is left to wait for: the grace timer must go with the last connection.
  void watch_end() {
    if (open.empty()) {
      grace.cancel();
      return;
    }
    const auto timer = std::make_shared<asio::steady_timer>(io, std::chrono::milliseconds(20));
    timer->async_wait([this, timer](const boost::system::error_code&) { watch_end(); });
  }

  void for_each_open(const std::function<void(Connection&)>& call) {
    for (const auto& [key, weak] : std::map(open)) {
      if (const auto connection = weak.lock()) call(*connection);
    }
  }

  asio::io_context io{1};
  ServerShare share;
  asio::steady_timer grace;
  std::vector<std::function<void()>> closers;
  std::map<Connection*, std::weak_ptr<Connection>> open;
  std::atomic<std::size_t> count{0};
};

HttpServer::HttpServer(HttpHandler& handler, const core::Clock& clock)
    : state_(std::make_unique<State>(handler, clock)) {}
HttpServer::~HttpServer() = default;

core::Result<int> HttpServer::listen(const Listen& listen) {
  const bool local =
      listen.kind == ListenerKind::kUnix || listen.host.find('/') != std::string::npos;
  return local ? state_->listen_local(listen) : state_->listen_tcp(listen);
}

void HttpServer::run() { state_->io.run(); }

void HttpServer::begin_drain(std::int64_t grace_ms) {
  asio::post(state_->io, [this, grace_ms] { state_->drain(grace_ms); });
}

std::size_t HttpServer::connections() const { return state_->count; }

}  // namespace saccade::transport
