// Takes credentials out of an address before anybody prints it: user info in front of the host, and
// the values of query parameters that usually carry secrets.
#include <algorithm>
#include <array>
#include <cctype>

#include "ingest/ingest.h"

namespace saccade::ingest {
namespace {

constexpr std::array<std::string_view, 12> kSecretWords = {"token",  "key",     "pass", "pwd",
                                                           "secret", "auth",    "sig",  "user",
                                                           "login",  "session", "cred", "streamid"};

bool names_secret(std::string_view parameter) {
  std::string lower(parameter);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// Where the host begins in `rest`, which follows "://". A password may hold a raw '@', and one with
// a raw '/' ends the authority too early: both are taken for user info rather than printed.
std::size_t host_start(std::string_view rest) {
  const std::string_view before_query = rest.substr(0, rest.find_first_of("?#"));
  const std::string_view authority = before_query.substr(0, before_query.find('/'));
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) return at + 1;
  const auto colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.ends_with(']')) return 0;
  const std::string_view port = authority.substr(colon + 1);
  const bool is_port =
      std::all_of(port.begin(), port.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  const auto at = before_query.rfind('@');
  return is_port || at == std::string_view::npos ? 0 : at + 1;
}

std::string redact_query(std::string_view query) {
  std::string out;
  while (!query.empty()) {
    const std::size_t length = std::min(query.find_first_of("&;"), query.size());
    const std::string_view pair = query.substr(0, length);
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos && names_secret(pair.substr(0, equals))) {
      out.append(pair.substr(0, equals)).append("=***");
    } else {
      out.append(pair);
    }
    query.remove_prefix(length);
    if (!query.empty()) {
      out.push_back(query.front());
      query.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

std::string redact_url(std::string_view url) {
  const auto scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return std::string(url);
  std::string out(url.substr(0, scheme_end + 3));
  std::string_view rest = url.substr(scheme_end + 3);
  rest.remove_prefix(host_start(rest));
  const auto query = rest.find('?');
  if (query == std::string_view::npos) return out.append(rest);
  out.append(rest.substr(0, query + 1));
  return out.append(redact_query(rest.substr(query + 1)));
}

}  // namespace saccade::ingest
