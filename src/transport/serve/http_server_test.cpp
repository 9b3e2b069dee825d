// The server's framing, seen through a raw socket: what a library client would never send.
#include "transport/serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "transport/api_error.h"
#include "transport/serve/text_feed.h"

namespace saccade::transport {
namespace {

// Echoes what it understood; knows a few paths by name.
class EchoHandler final : public HttpHandler {
 public:
  Verdict check(const HttpRequest& head) override {
    if (head.path == "/refused") return {.refusal = refuse(429, "queue_full", "later")};
    return {.accepted = true, .body_bytes_max = 1000};
  }
  void handle(HttpRequest request, ExchangePtr exchange) override {
    if (request.path == "/stream") {
      feed = std::make_shared<TextFeed>();
      (void)feed->write({"", "one"});
      (void)feed->write({"", "two"});
      feed->finish();
      exchange->stream({.head = sse_head(), .source = feed});
    } else if (request.path == "/late-refusal") {
      feed = std::make_shared<TextFeed>();
      exchange->stream({.head = sse_head(), .source = feed, .wait_for_first = true});
      exchange->reply(refuse(400, "usage", "no"));
    } else if (request.path == "/never") {
      exchange->on_gone([this] { ++gone; });
      held = exchange;
    } else {
      exchange->reply(
          {.body = request.method + " " + request.path + "?" + request.query + " " + request.body});
    }
  }
  HttpReply refuse(int status, const std::string& code, const std::string& message) override {
    return to_reply({.status = status, .message = message, .code = code});
  }
  std::shared_ptr<TextFeed> feed;
  ExchangePtr held;
  std::atomic<int> gone{0};
};

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto taken = server.listen({.host = "127.0.0.1", .port = 0});
    ASSERT_TRUE(taken.ok());
    port = *taken;
    thread = std::thread([this] { server.run(); });
  }
  void TearDown() override {
    server.begin_drain(1000);
    thread.join();
    handler.held.reset();  // an Exchange must not outlive its server
  }
  int connect_raw() const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  // Sends all of it, then reads until the server closes or says nothing for a while.
  std::string talk(const std::string& bytes, int quiet_ms = 300) const {
    const int fd = connect_raw();
    EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    const timeval quiet{0, quiet_ms * 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof quiet);
    std::string out;
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      out.append(buffer, static_cast<std::size_t>(got));
    }
    close(fd);
    return out;
  }
  static std::string status_of(const std::string& reply) { return reply.substr(0, 12); }

  core::SystemClock clock;
  EchoHandler handler;
  HttpServer server{handler, clock};
  int port = 0;
  std::thread thread;
};

TEST_F(HttpServerTest, RequestsFollowEachOtherOnOneConnection) {
  const std::string reply = talk(
      "POST /a?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
      "POST /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\nde\r\n1;x=y\r\nf\r\n0\r\n"
      "\r\nHEAD /c HTTP/1.1\r\nHost: h\r\n\r\nGET /refused HTTP/1.1\r\nHost: h\r\n\r\n"
      "GET /d HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_NE(reply.find("POST /a?x=1 abc"), std::string::npos) << reply;
  EXPECT_NE(reply.find("POST /b? def"), std::string::npos);
  EXPECT_EQ(reply.find("HEAD /c"), std::string::npos);
  EXPECT_NE(reply.find("HTTP/1.1 429 Too Many Requests"), std::string::npos);
  EXPECT_NE(reply.find("GET /d? "), std::string::npos);
}

// CVE-2025-23310 (tiny chunks), CVE-2025-46728, CVE-2026-45352: framing that lies.
TEST_F(HttpServerTest, LyingFramesAreRefusedWithTheErrorShape) {
  const std::string head = "POST /a HTTP/1.1\r\nHost: h\r\n";
  for (const std::string& bytes :
       {std::string("\x16\x03\x01\x02rubbish\r\n\r\n"), std::string("GET\r\n\r\n"),
        std::string("GET /a HTTP/9.9\r\n\r\n"), std::string("GET a HTTP/1.1\r\nHost: h\r\n\r\n"),
        std::string("GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n"),
        head + "Content-Length: -1\r\n\r\n", head + "Content-Length: 1x\r\n\r\n",
        head + "Content-Length: 99999999999999999999999\r\n\r\n",
        head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n", head + "Bad Header: x\r\n\r\n",
        head + "X: a\x01"
               "b\r\n\r\n",
        head + ": x\r\n\r\n"}) {
    const std::string reply = talk(bytes);
    EXPECT_EQ(status_of(reply), "HTTP/1.1 400") << bytes << "\n" << reply;
    EXPECT_NE(reply.find("{\"error\":{\"message\":"), std::string::npos);
  }
}

TEST_F(HttpServerTest, LimitsHaveTheirOwnAnswers) {
  const std::string line = "X-A: " + std::string(1000, 'a') + "\r\n";
  std::string large = "GET /a HTTP/1.1\r\nHost: h\r\n", lines = large;
  for (int i = 0; i < 40; ++i) large += line;
  for (int i = 0; i < 101; ++i) lines += "A" + std::to_string(i) + ": b\r\n";
  EXPECT_EQ(status_of(talk(large + "\r\n")), "HTTP/1.1 431");
  EXPECT_EQ(status_of(talk(lines + "\r\n")), "HTTP/1.1 431");
  EXPECT_EQ(status_of(talk("GET /" + std::string(3000, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n")),
            "HTTP/1.1 414");
  const std::string body(1001, 'b');
  // Announced, and refused before a byte of it is sent.
  EXPECT_EQ(status_of(talk("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n")),
            "HTTP/1.1 413");
  EXPECT_EQ(
      status_of(talk("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
                     body + "\r\n0\r\n\r\n")),
      "HTTP/1.1 413");
}

TEST_F(HttpServerTest, ManyTinyChunksCostNoMoreThanTheirBytes) {
  std::string chunks;
  for (int i = 0; i < 1000; ++i) chunks += "1\r\nx\r\n";
  const std::string head = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_NE(talk(head + chunks + "0\r\n\r\n").find(std::string(1000, 'x')), std::string::npos);
  EXPECT_EQ(status_of(talk(head + chunks + "1\r\nx\r\n0\r\n\r\n")), "HTTP/1.1 413");
}

TEST_F(HttpServerTest, AClientMayAskBeforeItSendsABody) {
  const std::string reply =
      talk("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n", 200);
  EXPECT_EQ(reply, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(status_of(talk("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3000\r\n"
                           "Expect: 100-continue\r\n\r\n")),
            "HTTP/1.1 413");
}

TEST_F(HttpServerTest, StreamsAreChunkedForNewClientsAndPlainForOldOnes) {
  const std::string chunked = talk("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(chunked.find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_NE(chunked.find("X-Accel-Buffering: no"), std::string::npos);
  EXPECT_NE(chunked.find("data: one\n\ndata: two\n\n\r\n0\r\n\r\n"), std::string::npos) << chunked;
  const std::string plain = talk("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(plain.ends_with("\r\n\r\ndata: one\n\ndata: two\n\n")) << plain;
}

TEST_F(HttpServerTest, AStreamCanBeRefusedUntilItsFirstByte) {
  EXPECT_EQ(status_of(talk("GET /late-refusal HTTP/1.1\r\nHost: h\r\n\r\n")), "HTTP/1.1 400");
}

// F1: the client vanishes while its request waits.
TEST_F(HttpServerTest, AClientThatLeavesIsNoticedThoughNothingIsWritten) {
  const int fd = connect_raw();
  const std::string request = "GET /never HTTP/1.1\r\nHost: h\r\n\r\n";
  ASSERT_GT(send(fd, request.data(), request.size(), 0), 0);
  while (server.connections() == 0) clock.sleep_us(1000);
  clock.sleep_us(50'000);
  EXPECT_EQ(handler.gone, 0);
  close(fd);
  for (int i = 0; i < 1000 && handler.gone == 0; ++i) clock.sleep_us(1000);
  EXPECT_EQ(handler.gone, 1);
  EXPECT_TRUE(handler.held->gone());
}

}  // namespace
}  // namespace saccade::transport
