#include "transport/access.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "transport/ascii_text.h"
#include "transport/media_data.h"

namespace saccade::transport {
namespace {

std::string digest_of(std::string_view key) {
  std::string out(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(),
         reinterpret_cast<unsigned char*>(out.data()));
  return out;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : line.substr(0, line.find('#'))) {
    if (c != ' ' && c != '\t' && c != '\r') {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) out.push_back(std::move(word));
  return out;
}

core::Error bad_line(std::size_t number, const std::string& what) {
  return core::error(core::ErrorCode::kUsage,
                     "line " + std::to_string(number) + " of the key file " + what,
                     "write KEY, or NAME KEY and then admin or rate=REQUESTS_PER_MINUTE");
}

// The words behind NAME and KEY. False when one means nothing or stands twice.
bool read_rights(std::span<const std::string> words, KeyRing::Holder& holder) {
  constexpr std::string_view kRate = "rate=";
  for (const std::string& word : words) {
    if (word == "admin" && !holder.admin) {
      holder.admin = true;
      continue;
    }
    if (!word.starts_with(kRate) || holder.per_minute != 0) return false;
    const auto rate = whole_number<int>(std::string_view(word).substr(kRate.size()));
    if (!rate || *rate < 1 || *rate > kKeyRateMax) return false;
    holder.per_minute = *rate;
  }
  return true;
}

// "host:port" or "[::1]:port" without the port.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == host.npos ? host : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

// A browser cannot send headers with a WebSocket, but it can offer protocols.
std::string key_of_protocols(const HttpRequest& request) {
  if (lower(request.header("upgrade")) != "websocket") return {};
  for (const std::string_view protocol : list_of(request.header("sec-websocket-protocol"))) {
    if (!protocol.starts_with(kKeyProtocol)) continue;
    std::string key(protocol.substr(kKeyProtocol.size()));
    return decode_base64(key) ? key : std::string();
  }
  return {};
}

std::string bearer_of(const HttpRequest& request) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view header = request.header("authorization");
  const bool bearer = header.size() > kScheme.size() && starts_with_ignoring_case(header, kScheme);
  if (bearer) return std::string(header.substr(kScheme.size()));
  const std::string_view key = request.header("x-api-key");
  return key.empty() ? key_of_protocols(request) : std::string(key);
}

bool holds(const std::vector<std::string>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool own_origin(std::string_view origin, const HttpRequest& request) {
  const std::size_t scheme = origin.find("://");
  return scheme != origin.npos && origin.substr(scheme + 3) == request.header("host");
}

bool origin_allowed(const AccessRules& rules, const HttpRequest& request) {
  const std::string_view origin = request.header("origin");
  return origin.empty() || own_origin(origin, request) || holds(rules.allowed_origins, "*") ||
         holds(rules.allowed_origins, origin);
}

bool host_allowed(const AccessRules& rules, const HttpRequest& request) {
  if (request.listener == ListenerKind::kUnix) return true;
  const std::string_view host = without_port(request.header("host"));
  if (holds(rules.allowed_hosts, host)) return true;
  return request.loopback_listener ? is_loopback_host(host) : rules.allowed_hosts.empty();
}

}  // namespace

core::Result<KeyRing> KeyRing::parse(std::string_view text) {
  KeyRing ring;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    ++number;
    if (words.empty()) continue;
    KeyRing::Holder holder;
    holder.name = words.size() > 1 ? words[0] : "key-" + std::to_string(number);
    if (words.size() > 2 && !read_rights(std::span(words).subspan(2), holder)) {
      return bad_line(number, "has words that mean nothing");
    }
    const std::string& key = words.size() == 1 ? words[0] : words[1];
    if (key.size() < kKeyBytesMin || key.size() > kKeyBytesMax) {
      return bad_line(number, "has a key of " + std::to_string(key.size()) +
                                  " bytes; allowed are " + std::to_string(kKeyBytesMin) + ".." +
                                  std::to_string(kKeyBytesMax));
    }
    if (ring.keys_.size() == kKeysMax) {
      return bad_line(number, "is one more than " + std::to_string(kKeysMax) + " keys");
    }
    ring.keys_.push_back({digest_of(key), std::move(holder)});
  }
  return ring;
}

std::optional<KeyRing::Holder> KeyRing::find(std::string_view key) const {
  const std::string digest = digest_of(key);
  const Key* found = nullptr;
  for (const Key& known : keys_) {
    if (CRYPTO_memcmp(known.digest.data(), digest.data(), digest.size()) == 0) found = &known;
  }
  return found ? std::optional<Holder>(found->holder) : std::nullopt;
}

bool is_loopback_host(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos;
}

Admission admit(const AccessRules& rules, Scope scope, const HttpRequest& request) {
  Admission out;
  const auto refuse = [&](int status, const char* code, const char* message) {
    out.refusal = ApiError{.status = status, .message = message, .code = code};
    return out;
  };
  if (!host_allowed(rules, request)) {
    return refuse(403, "host_not_allowed", "this name of the server is not allowed");
  }
  if (!origin_allowed(rules, request)) {
    return refuse(403, "origin_not_allowed", "pages of this origin may not use this server");
  }
  if (scope == Scope::kOpen) return out;
  if (scope == Scope::kAdmin && request.listener == ListenerKind::kAdmin) return out;
  if (rules.keys.empty()) {
    out.admin = true;
    return out;
  }
  const std::string key = bearer_of(request);
  const auto holder = rules.keys.find(key);
  if (!holder) {
    return refuse(401, "invalid_api_key",
                  key.empty() ? "this server wants an API key: Authorization: Bearer KEY"
                              : "the API key is not known here");
  }
  if (scope == Scope::kAdmin && !holder->admin) {
    return refuse(403, "admin_only", "this route is for administrators");
  }
  out.tenant = holder->name;
  out.admin = holder->admin;
  out.per_minute = holder->per_minute;
  return out;
}

HttpHeaders cors_headers(const AccessRules& rules, const HttpRequest& request) {
  const std::string_view origin = request.header("origin");
  if (origin.empty() || own_origin(origin, request) || !origin_allowed(rules, request)) return {};
  return {{"Access-Control-Allow-Origin", std::string(origin)},
          {"Vary", "Origin"},
          {"Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE"},
          {"Access-Control-Allow-Headers",
           "Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Request-Deadline-Ms"},
          {"Access-Control-Expose-Headers",
           "ETag, X-Request-Id, Retry-After, X-Media-Time, X-Source-Size"},
          {"Access-Control-Max-Age", "600"}};
}

}  // namespace saccade::transport
