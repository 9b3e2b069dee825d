#pragma once
// The table of routes: method, path, scope, size of the body. A path segment in braces stands for
// any name of [A-Za-z0-9_.-]{1,64}. Pure.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/access.h"

namespace saccade::transport {

enum class RouteId {
  kLive,
  kReady,
  kHealth,
  kVersion,
  kModels,
  kModel,
  kTokenize,
  kChat,
  kResponse,
  kTranscribe,
  kMetrics,
  kStreamList,
  kStreamMake,
  kStreamShow,
  kStreamChange,
  kStreamEnd,
  kStreamEvents,
  kStreamAsk,
  kStreamSocket,
  kStreamPicture,
  kConsolePage,
  kConsoleAsset,
};

struct Route {
  RouteId id;
  std::string_view method, path;
  Scope scope;
  std::uint64_t body_bytes_max = 0;  // 0 = no body
};
std::span<const Route> route_table();

struct RouteMatch {
  const Route* route = nullptr;  // null: no such path, or no such method on it
  std::string name;              // what stood for the segment in braces
  std::string allowed;           // methods of the path when only the method was wrong
};
RouteMatch match_route(std::string_view method, std::string_view path);

}  // namespace saccade::transport
