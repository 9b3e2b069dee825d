// The route that becomes a WebSocket: the handshake is checked here, so that what is wrong with it
// is told like everything else.
#include <algorithm>
#include <utility>

#include "transport/ascii_text.h"
#include "transport/media_data.h"
#include "transport/push_message.h"
#include "transport/serve/service.h"
#include "transport/serve/stream_socket.h"

namespace saccade::transport {
namespace {

constexpr std::string_view kProtocol = "saccade.v1";
constexpr std::string_view kVersion = "13";
constexpr std::size_t kNonceBytes = 16;

bool lists(std::string_view header, std::string_view wanted) {
  const auto entries = list_of(header);
  return std::any_of(entries.begin(), entries.end(),
                     [&](std::string_view entry) { return lower(entry) == wanted; });
}

bool is_nonce(std::string_view text) {
  std::string bytes(text);
  return decode_base64(bytes) && bytes.size() == kNonceBytes;
}

// Nothing when the text is no number; `otherwise` when there is none.
std::optional<std::uint64_t> number_of(const HttpRequest& request, std::string_view name,
                                       std::uint64_t otherwise) {
  const std::string_view text = query_value(request.query, name);
  return text.empty() ? otherwise : whole_number<std::uint64_t>(text);
}

}  // namespace

bool Service::check_handshake(const Call& call) {
  const HttpRequest& request = call.request;
  const bool asks = lower(request.header("upgrade")) == "websocket" &&
                    lists(request.header("connection"), "upgrade");
  if (!asks || request.header("sec-websocket-version") != kVersion) {
    HttpReply refusal = to_reply({.status = 426,
                                  .message = "this route is a WebSocket of version 13",
                                  .code = "upgrade_required"});
    refusal.headers = {{"Upgrade", "websocket"}, {"Sec-WebSocket-Version", std::string(kVersion)}};
    metrics_.refused.add({"upgrade_required"});
    reply(call, std::move(refusal));
    return false;
  }
  if (request.method == "GET" && is_nonce(request.header("sec-websocket-key"))) return true;
  fail_usage(call, "Sec-WebSocket-Key must be 16 bytes in base64", "Sec-WebSocket-Key");
  return false;
}

bool Service::check_sockets(const Call& call, const LiveStream& stream) {
  if (draining_) {
    fail(call, {.status = 503,
                .message = "the server is shutting down",
                .code = "shutting_down",
                .retry_after_s = 1});
    return false;
  }
  if (*sockets_ < kSocketsMax && *stream.sockets() < kSocketsPerStreamMax) return true;
  fail(call,
       {.status = 429,
        .message = "there are as many sockets as there may be: " + std::to_string(kSocketsMax) +
                   ", and " + std::to_string(kSocketsPerStreamMax) + " of one stream",
        .code = "too_many_sockets",
        .retry_after_s = 5});
  return false;
}

void Service::open_socket(const CallPtr& call) {
  const auto stream = own_stream(*call);
  if (!stream || !check_handshake(*call) || !check_sockets(*call, *stream)) return;
  const HttpRequest& request = call->request;
  const bool sends = stream->port() && query_value(request.query, "push") != "false";
  // Old outcomes are of use only to who asks for them.
  const std::uint64_t newest = sends ? stream->outcomes()->ring()->newest() : 0;
  const auto event = number_of(request, "last_event_id", 0);
  const auto outcome = number_of(request, "last_outcome", newest);
  if (!event) return fail_usage(*call, "last_event_id is no number", "last_event_id");
  if (!outcome) return fail_usage(*call, "last_outcome is no number", "last_outcome");
  StreamSocket::Options options;
  options.stream = stream->id();
  options.events = stream->ring();
  options.after_event.after = *event;
  options.after_outcome.after = *outcome;
  if (sends) options.outcomes = stream->outcomes()->ring();
  if (sends && !stream->ended()) options.port = stream->port();
  options.of_server = std::make_shared<StreamSocket::Hold>(sockets_);
  options.of_stream = std::make_shared<StreamSocket::Hold>(stream->sockets());
  SocketReply socket;
  socket.message_bytes_max =
      sends ? kPushHeaderBytes + core::limits::kPushBytesMax : kControlBytesMax;
  if (lists(request.header("sec-websocket-protocol"), kProtocol)) socket.protocol = kProtocol;
  socket.session = std::make_shared<StreamSocket>(std::move(options), draining_);
  metrics_.requests.add({std::string(call->match.route->path), "101"});
  call->exchange->upgrade(std::move(socket));
  stream->ring()->wake_on_news(call->exchange);
  if (sends) stream->outcomes()->ring()->wake_on_news(call->exchange);
}

}  // namespace saccade::transport
