#include "transport/route.h"

#include <algorithm>
#include <array>

namespace saccade::transport {
namespace {

constexpr std::uint64_t kSmall = 1 << 20;      // JSON without media
constexpr std::uint64_t kMedia = 64ULL << 20;  // media inside
constexpr std::size_t kNameBytesMax = 64;

constexpr std::array kRoutes = {
    Route{RouteId::kLive, "GET", "/livez", Scope::kOpen},
    Route{RouteId::kReady, "GET", "/readyz", Scope::kOpen},
    Route{RouteId::kHealth, "GET", "/health", Scope::kOpen},
    Route{RouteId::kVersion, "GET", "/version", Scope::kOpen},
    Route{RouteId::kMetrics, "GET", "/metrics", Scope::kAdmin},
    Route{RouteId::kModels, "GET", "/v1/models", Scope::kUser},
    Route{RouteId::kModel, "GET", "/v1/models/{name}", Scope::kUser},
    Route{RouteId::kTokenize, "POST", "/tokenize", Scope::kUser, kSmall},
    Route{RouteId::kChat, "POST", "/v1/chat/completions", Scope::kUser, kMedia},
    Route{RouteId::kResponse, "POST", "/v1/responses", Scope::kUser, kMedia},
    Route{RouteId::kTranscribe, "POST", "/v1/audio/transcriptions", Scope::kUser, kMedia},
    Route{RouteId::kStreamList, "GET", "/v1/streams", Scope::kUser},
    Route{RouteId::kStreamMake, "POST", "/v1/streams", Scope::kUser, kSmall},
    Route{RouteId::kStreamShow, "GET", "/v1/streams/{name}", Scope::kUser},
    Route{RouteId::kStreamChange, "PATCH", "/v1/streams/{name}", Scope::kUser, kSmall},
    Route{RouteId::kStreamEnd, "DELETE", "/v1/streams/{name}", Scope::kUser},
    Route{RouteId::kStreamEvents, "GET", "/v1/streams/{name}/events", Scope::kUser},
    Route{RouteId::kStreamAsk, "POST", "/v1/streams/{name}/ask", Scope::kUser, kSmall},
    Route{RouteId::kStreamSocket, "GET", "/v1/streams/{name}/socket", Scope::kUser},
    Route{RouteId::kStreamPicture, "GET", "/v1/streams/{name}/picture", Scope::kUser},
    Route{RouteId::kConsolePage, "GET", "/", Scope::kOpen},
    Route{RouteId::kConsoleAsset, "GET", "/assets/{name}", Scope::kOpen},
};

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= kNameBytesMax &&
         std::all_of(text.begin(), text.end(), fits);
}

// The name in the place of the braces, "" without braces; nothing when the path does not fit.
std::optional<std::string> fit(std::string_view pattern, std::string_view path) {
  const std::size_t open = pattern.find('{');
  if (open == pattern.npos) {
    return pattern == path ? std::optional<std::string>("") : std::nullopt;
  }
  const std::string_view tail = pattern.substr(pattern.find('}') + 1);
  if (path.size() <= open + tail.size() || !path.starts_with(pattern.substr(0, open)) ||
      !path.ends_with(tail)) {
    return std::nullopt;
  }
  const std::string_view name = path.substr(open, path.size() - open - tail.size());
  return is_name(name) ? std::optional<std::string>(name) : std::nullopt;
}

}  // namespace

std::span<const Route> route_table() { return kRoutes; }

RouteMatch match_route(std::string_view method, std::string_view path) {
  RouteMatch out;
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Route& route : kRoutes) {
    auto name = fit(route.path, path);
    if (!name) continue;
    if (route.method == wanted) {
      out.route = &route;
      out.name = std::move(*name);
      return out;
    }
    out.allowed += (out.allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return out;
}

}  // namespace saccade::transport
