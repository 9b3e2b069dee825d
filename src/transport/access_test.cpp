#include "transport/access.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "transport/limit_rate.h"
#include "transport/route.h"

namespace saccade::transport {
namespace {

HttpRequest request_with(HttpHeaders headers) {
  HttpRequest request;
  request.headers = std::move(headers);
  request.loopback_listener = true;
  request.headers.emplace_back("host", "localhost:8770");
  return request;
}

int status_of(const AccessRules& rules, Scope scope, const HttpRequest& request) {
  const Admission admission = admit(rules, scope, request);
  return admission.refusal ? admission.refusal->status : 200;
}

AccessRules with_keys() {
  AccessRules rules;
  rules.keys = *KeyRing::parse("# ours\nalice key-of-alice\n\nroot key-of-root admin\nkey-alone\n");
  return rules;
}

TEST(Access, AKeyFileIsReadLineByLineAndErrorsNeverShowAKey) {
  const KeyRing keys = with_keys().keys;
  EXPECT_EQ(keys.find("key-of-alice")->name, "alice");
  EXPECT_TRUE(keys.find("key-of-root")->admin);
  EXPECT_EQ(keys.find("key-alone")->name, "key-5");
  for (const char* wrong : {"", "key-of-alic", "key-of-alice ", "KEY-OF-ALICE", "alice"}) {
    EXPECT_FALSE(keys.find(wrong)) << wrong;
  }
  for (const char* bad : {"short", "a b c d", "name secret-key user"}) {
    const auto ring = KeyRing::parse(std::string("# first\n") + bad);
    ASSERT_FALSE(ring.ok()) << bad;
    EXPECT_NE(ring.error().message.find("line 2"), std::string::npos);
    EXPECT_EQ(ring.error().message.find("secret"), std::string::npos);
  }
}

// Every route of the table, with and without a key: default is to refuse (T20).
TEST(Access, NoRouteIsOpenWithoutDeclaringIt) {
  const AccessRules rules = with_keys();
  // The last two are the console's own files: no more than what is in the binary.
  const std::set<std::string_view> open = {"/livez",   "/readyz", "/health",
                                           "/version", "/",       "/assets/{name}"};
  const HttpRequest user = request_with({{"authorization", "Bearer key-of-alice"}});
  const HttpRequest root = request_with({{"authorization", "bearer key-of-root"}});
  for (const Route& route : route_table()) {
    EXPECT_EQ(route.scope == Scope::kOpen, open.count(route.path) > 0) << route.path;
    const int closed = route.scope == Scope::kOpen ? 200 : 401;
    EXPECT_EQ(status_of(rules, route.scope, request_with({})), closed) << route.path;
    EXPECT_EQ(status_of(rules, route.scope, request_with({{"x-api-key", "wrong"}})), closed);
    EXPECT_EQ(status_of(rules, route.scope, user), route.scope == Scope::kAdmin ? 403 : 200);
    EXPECT_EQ(status_of(rules, route.scope, root), 200) << route.path;
  }
}

TEST(Access, AKeyMayHaveARateAndBeAnAdmins) {
  const auto ring = KeyRing::parse("a key-of-alice rate=60\nb key-of-bobby admin rate=1\n");
  ASSERT_TRUE(ring.ok());
  EXPECT_EQ(ring->find("key-of-alice")->per_minute, 60);
  EXPECT_FALSE(ring->find("key-of-alice")->admin);
  EXPECT_TRUE(ring->find("key-of-bobby")->admin);
  for (const char* bad : {"rate=0", "rate=", "rate=-1", "rate=1000001", "rate=1 rate=2",
                          "admin admin", "rate=1x", "Rate=1"}) {
    EXPECT_FALSE(KeyRing::parse(std::string("a key-of-alice ") + bad).ok()) << bad;
  }
}

TEST(RateLimiter, ALoopIsRefusedAndAFewAtOnceAreNot) {
  RateLimiter limiter;
  const core::SteadyTime start{1'000'000};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(limiter.take("a", 60, start), 0);
  EXPECT_EQ(limiter.take("a", 60, start), 2);  // one second, rounded up past its end
  EXPECT_EQ(limiter.take("b", 60, start), 0);  // others have their own
  EXPECT_EQ(limiter.take("a", 60, {start.us + 1'000'000}), 0);
  EXPECT_GT(limiter.take("a", 60, {start.us + 1'000'000}), 0);
  EXPECT_EQ(limiter.take("c", 1, start), 0);  // however slow, the first one goes
  EXPECT_EQ(limiter.take("c", 1, start), 61);
}

// A browser can send a WebSocket's key as a protocol only; nothing else is read from there.
TEST(Access, AWebSocketsKeyMayBeAProtocol) {
  const auto request = [](const std::string& protocols, const char* upgrade) {
    return request_with({{"upgrade", upgrade}, {"sec-websocket-protocol", protocols}});
  };
  const std::string key = "saccade.key.a2V5LW9mLWFsaWNl";  // key-of-alice
  const auto status = [&](const std::string& protocols, const char* upgrade = "websocket") {
    return status_of(with_keys(), Scope::kUser, request(protocols, upgrade));
  };
  EXPECT_EQ(status("saccade.v1, " + key), 200);
  EXPECT_EQ(status(key + ",saccade.v1"), 200);
  EXPECT_EQ(status("saccade.v1, " + key, ""), 401);
  for (const char* wrong : {"", "saccade.v1", "saccade.key.", "saccade.key.!!", "saccade.key.a2V5",
                            ",,, ,", "key-of-alice"}) {
    EXPECT_EQ(status(wrong), 401) << wrong;
  }
}

TEST(Access, TheAdminListenerNeedsNoKey) {
  HttpRequest request = request_with({});
  request.listener = ListenerKind::kAdmin;
  EXPECT_EQ(status_of(with_keys(), Scope::kAdmin, request), 200);
  EXPECT_EQ(status_of(with_keys(), Scope::kUser, request), 401);
}

// go2rtc CVE-2024-29191: a page the operator visits must reach nothing (T22).
TEST(Access, BrowsersFromElsewhereAndReboundNamesAreKeptOut) {
  AccessRules rules;
  EXPECT_EQ(status_of(rules, Scope::kUser, request_with({{"origin", "https://evil.example"}})),
            403);
  EXPECT_EQ(status_of(rules, Scope::kUser, request_with({{"origin", "null"}})), 403);
  EXPECT_EQ(status_of(rules, Scope::kOpen, request_with({{"origin", "https://evil.example"}})),
            403);
  EXPECT_EQ(status_of(rules, Scope::kUser, request_with({{"origin", "http://localhost:8770"}})),
            200);
  rules.allowed_origins = {"https://app.example"};
  const HttpRequest app = request_with({{"origin", "https://app.example"}});
  EXPECT_EQ(status_of(rules, Scope::kUser, app), 200);
  EXPECT_EQ(cors_headers(rules, app).front().second, "https://app.example");
  EXPECT_TRUE(cors_headers(rules, request_with({})).empty());

  for (const char* host : {"evil.example", "evil.example:8770", "127.0.0.1.evil.example", "", "[",
                           "localhost.evil.example", "2130706433"}) {
    HttpRequest rebound;
    rebound.loopback_listener = true;
    rebound.headers = {{"host", host}};
    EXPECT_EQ(status_of(rules, Scope::kOpen, rebound), 403) << host;
    rules.allowed_hosts = {"evil.example"};
    const bool named = std::string_view(host).starts_with("evil.example");
    EXPECT_EQ(status_of(rules, Scope::kOpen, rebound), named ? 200 : 403) << host;
    rules.allowed_hosts.clear();
  }
  for (const char* host : {"127.0.0.1:1", "localhost", "[::1]:8770"}) {
    HttpRequest own;
    own.loopback_listener = true;
    own.headers = {{"host", host}};
    EXPECT_EQ(status_of(rules, Scope::kOpen, own), 200) << host;
  }
}

TEST(Route, PathsMatchWholeAndNamesAreBounded) {
  EXPECT_EQ(match_route("GET", "/v1/streams/a-1").route->id, RouteId::kStreamShow);
  EXPECT_EQ(match_route("GET", "/v1/streams/a-1/events").name, "a-1");
  EXPECT_EQ(match_route("HEAD", "/livez").route->id, RouteId::kLive);
  EXPECT_EQ(match_route("GET", "/").route->id, RouteId::kConsolePage);
  EXPECT_EQ(match_route("GET", "/assets/a-1.js").name, "a-1.js");
  EXPECT_EQ(match_route("GET", "/v1/streams/a/picture").route->id, RouteId::kStreamPicture);
  EXPECT_EQ(match_route("PUT", "/v1/streams/a").allowed, "GET, PATCH, DELETE");
  for (const char* path :
       {"", "//", "/assets/", "/assets/../x", "/assets/a/b", "/index.html", "/v1/streams/",
        "/v1/streams//events", "/v1/streams/a/b", "/v1/streams/../x", "/v1/streams/a%2fb",
        "/livez/", "//livez", "/LIVEZ", "/v1/streams/a/events/"}) {
    const RouteMatch match = match_route("GET", path);
    EXPECT_EQ(match.route, nullptr) << path;
  }
  EXPECT_EQ(match_route("GET", "/v1/streams/" + std::string(65, 'a')).route, nullptr);
}

}  // namespace
}  // namespace saccade::transport
