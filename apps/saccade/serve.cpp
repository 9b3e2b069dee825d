#include "serve.h"

#include <charconv>
#include <fstream>
#include <utility>

namespace saccade::app {
namespace {

core::Error usage(const std::string& what, const std::string& hint) {
  return core::error(core::ErrorCode::kUsage, what, hint);
}

core::Result<std::string> read_key_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(transport::kKeyFileBytesMax + 1, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof()) {
    return usage("the key file " + path + " cannot be read", "check the path of --api-key-file");
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() <= transport::kKeyFileBytesMax) return text;
  return usage("the key file " + path + " is larger than " +
                   std::to_string(transport::kKeyFileBytesMax) + " bytes",
               "name a file with one key per line");
}

}  // namespace

core::Result<transport::Listen> admin_listen_of(const std::string& text) {
  transport::Listen listen{.kind = transport::ListenerKind::kAdmin, .host = text, .port = 0};
  if (text.find('/') != text.npos) return listen;
  const std::size_t colon = text.rfind(':');
  const std::string port = colon == text.npos ? "" : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), listen.port);
  listen.host = text.substr(0, colon);
  if (listen.host.starts_with('[') && listen.host.ends_with(']')) {
    listen.host = listen.host.substr(1, listen.host.size() - 2);
  }
  const bool whole = error == std::errc() && end == port.data() + port.size();
  if (!whole || listen.port < 0 || listen.port > 65'535 ||
      !transport::is_loopback_host(listen.host)) {
    return usage(
        "--admin-listen is '" + text + "'; allowed are 127.0.0.1:PORT and paths of sockets",
        "admin routes ask for no key there, so only this machine may reach them");
  }
  return listen;
}

core::Result<transport::AccessRules> access_of(const Settings& settings) {
  transport::AccessRules rules;
  rules.allowed_hosts = settings.allow_host;
  rules.allowed_origins = settings.allow_origin;
  if (!settings.api_key_file.empty()) {
    const auto text = read_key_file(settings.api_key_file);
    if (!text) return text.error();
    auto keys = transport::KeyRing::parse(*text);
    if (!keys) return keys.error();
    if (keys->empty()) {
      return usage("the key file " + settings.api_key_file + " holds no key",
                   "write one key per line");
    }
    rules.keys = std::move(*keys);
  }
  const bool reachable =
      settings.host.find('/') == std::string::npos && !transport::is_loopback_host(settings.host);
  if (!reachable || !rules.keys.empty()) return rules;
  return usage("--host " + settings.host + " lets other machines in, and there is no API key",
               "name a file with keys: --api-key-file FILE");
}

std::string model_name(const std::string& alias, const std::string& own) {
  if (!alias.empty()) return alias;
  std::string out;
  for (const char c : own) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    const bool capital = c >= 'A' && c <= 'Z';
    out += letter ? c : capital ? static_cast<char>(c + 32) : '-';
  }
  return out.empty() ? "default" : out;
}

}  // namespace saccade::app
