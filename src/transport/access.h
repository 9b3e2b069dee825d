#pragma once
// Who may ask for what. Every route declares a scope; what is in no table is refused. Pure.
//   kOpen   anybody who reaches the listener: liveness, version
//   kUser   with keys configured: any key
//   kAdmin  on the admin listener anybody, else a key marked admin; without keys: anybody, since
//           the server then listens on this machine only
// A browser is kept out unless it was let in: a request that carries an Origin is refused when this
// is neither the server itself nor in the list, and on a loopback listener the Host must be this
// machine or in the list, so that a name that was rebound to 127.0.0.1 reaches nothing.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "transport/api_error.h"
#include "transport/http_message.h"

namespace saccade::transport {

inline constexpr std::size_t kKeyBytesMin = 8, kKeyBytesMax = 256;
inline constexpr std::size_t kKeysMax = 1024;
inline constexpr std::size_t kKeyFileBytesMax = 1 << 20;
inline constexpr int kKeyRateMax = 1'000'000;  // requests per minute

enum class Scope { kOpen, kUser, kAdmin };

// Keys are kept as digests; looking one up takes the same time whichever it is.
class KeyRing {
 public:
  // One key per line: `KEY`, or `NAME KEY` and then, if wanted, `admin` and `rate=N`; '#' begins a
  // comment. Errors: kUsage (line number, never the key).
  static core::Result<KeyRing> parse(std::string_view text);

  bool empty() const { return keys_.empty(); }
  struct Holder {
    std::string name;
    bool admin = false;
    int per_minute = 0;  // requests; 0 = as many as they like
  };
  // Nothing for an unknown key.
  std::optional<Holder> find(std::string_view key) const;

 private:
  struct Key {
    std::string digest;
    Holder holder;
  };
  std::vector<Key> keys_;
};

struct AccessRules {
  KeyRing keys;
  std::vector<std::string> allowed_hosts;    // further values of Host, without port
  std::vector<std::string> allowed_origins;  // "https://app.example"; "*" = any
};

// A WebSocket's protocol that is the key: this, then the key in base64url.
inline constexpr std::string_view kKeyProtocol = "saccade.key.";

// Who asks, or why not.
struct Admission {
  std::string tenant = "local";  // name of the key's holder
  bool admin = false;            // sees what others own, too
  int per_minute = 0;            // requests of this tenant; 0 = as many as it likes
  std::optional<ApiError> refusal;
};
Admission admit(const AccessRules& rules, Scope scope, const HttpRequest& request);

// CORS headers for a request that was let in; empty without an Origin.
HttpHeaders cors_headers(const AccessRules& rules, const HttpRequest& request);

// Reaching it needs access to this machine: 127.0.0.0/8, ::1, localhost.
bool is_loopback_host(std::string_view host);

}  // namespace saccade::transport
