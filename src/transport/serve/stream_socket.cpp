#include "transport/serve/stream_socket.h"

#include <utility>

#include "transport/api_error.h"
#include "transport/json_text.h"
#include "transport/push_message.h"
#include "transport/read_json.h"

namespace saccade::transport {
namespace {

using core::ErrorCode;

ingest::PushKind kind_of(const PushMessage& message) {
  switch (message.type) {
    case PushType::kEncoded:
      return ingest::PushKind::kEncoded;
    case PushType::kRaw:
      return message.planar ? ingest::PushKind::kI420 : ingest::PushKind::kRgb24;
    case PushType::kSound:
      return ingest::PushKind::kSound;
  }
  return ingest::PushKind::kEncoded;
}

ingest::PushPacket packet_of(const PushMessage& message) {
  return {.kind = kind_of(message),
          .seq = message.seq,
          .capture_us = message.capture_us,
          .width = message.width,
          .height = message.height,
          .stride = message.stride,
          .rate = message.rate,
          .bytes = std::string(message.payload)};
}

}  // namespace

StreamSocket::StreamSocket(Options options, const std::atomic<bool>& draining)
    : options_(std::move(options)),
      draining_(draining),
      event_(options_.after_event),
      outcome_(options_.after_outcome) {
  if (!options_.port) return;
  sender_ = options_.port->attach();
  told_ = options_.port->accepted();
}

void StreamSocket::closed() {
  if (options_.port) options_.port->detach(std::exchange(sender_, 0));
}

// What was granted since it was told last; empty when that is not worth a message.
std::string StreamSocket::grant() {
  const ingest::PushPort::Totals now = options_.port->granted();
  const std::uint64_t pictures = now.pictures - told_.pictures;
  const std::int64_t sound_us = now.sound_us - told_.sound_us;
  if (granted_once_ && pictures == 0 && sound_us < kSoundGrantUsMin) return {};
  granted_once_ = true;
  // Whole milliseconds are told; the rest is for the next time.
  const std::int64_t sound_ms = sound_us / 1000;
  told_.pictures = now.pictures;
  told_.sound_us += sound_ms * 1000;
  JsonObject json;
  json.count("v", 1);
  json.text("kind", "credit");
  json.text("stream", options_.stream);
  json.count("pictures", pictures);
  json.count("sound_ms", static_cast<std::uint64_t>(sound_ms));
  json.count("newest", options_.port->newest_seq());
  return json.str();
}

SocketSession::Pulled StreamSocket::pull() {
  if (!notes_.empty()) {
    std::string note = std::move(notes_.front());
    notes_.pop_front();
    return {.text = std::move(note)};
  }
  if (options_.port && close_ == 0) {
    if (!options_.port->sends(sender_)) end_with(kCloseReplaced, "another client sends now");
  }
  if (close_ != 0) return {.text = {}, .close = close_, .reason = close_reason_};
  if (options_.port) {
    if (auto text = grant(); !text.empty()) return {.text = std::move(text)};
  }
  if (options_.outcomes) {
    if (auto text = options_.outcomes->next(outcome_)) return {.text = std::move(*text)};
  }
  if (auto text = options_.events->next(event_)) return {.text = std::move(*text)};
  // Outcomes end before the events do.
  if (options_.events->at_end(event_)) {
    end_with(draining_ ? kCloseGoingAway : kCloseNormal,
             draining_ ? "the server is shutting down" : "the stream has ended");
    return {.text = {}, .close = close_, .reason = close_reason_};
  }
  return {};
}

void StreamSocket::take(std::string message, bool binary) {
  if (close_ != 0) return;
  binary ? take_packet(message) : take_control(message);
}

void StreamSocket::take_packet(const std::string& message) {
  if (!options_.port) {
    return refuse(core::error(ErrorCode::kUnsupported, "this socket takes no pictures or sound"),
                  0);
  }
  std::uint64_t seq = 0;
  const auto parsed = parse_push_message(message, seq);
  if (!parsed) return refuse(parsed.error(), seq);
  const auto status = options_.port->offer(sender_, packet_of(*parsed));
  if (status) return;
  refuse(status.error(), seq);
  if (status.error().code == ErrorCode::kExhausted) {
    end_with(kCloseSoundLimit, "more sound than was granted");
  }
}

void StreamSocket::take_control(const std::string& message) {
  if (message.size() > kControlBytesMax) {
    return refuse(core::error(ErrorCode::kUsage, "the text has " + std::to_string(message.size()) +
                                                     " bytes; allowed are " +
                                                     std::to_string(kControlBytesMax)),
                  0);
  }
  auto document = JsonDocument::parse(message);
  if (!document) return refuse(document.error(), 0);
  const JsonReader body = document->root();
  if (!body.is_object()) body.fail(ErrorCode::kUsage, "must be an object");
  const std::string type = body.text("type", kControlBytesMax).value_or("");
  if (!body.failed() && (type != "end" || !options_.port)) {
    body.fail_at("type", ErrorCode::kUsage,
                 options_.port ? "is not end, the only one there is" : "means nothing here");
  }
  if (document->error().error) return refuse(*document->error().error, 0);
  options_.port->finish();
}

// Told to the client; who is wrong too often is sent away.
void StreamSocket::refuse(const core::Error& error, std::uint64_t frame) {
  const ApiError told = api_error(error);
  JsonObject json;
  json.count("v", 1);
  json.text("kind", "error");
  json.text("stream", options_.stream);
  json.text("code", told.code);
  json.text("text", told.message);
  if (frame != 0) json.count("frame", frame);
  notes_.push_back(json.str());
  if (++faults_ > kSocketFaultsMax) end_with(kClosePolicy, "too many messages were wrong");
}

void StreamSocket::end_with(int code, std::string reason) {
  if (close_ != 0) return;
  close_ = code;
  close_reason_ = std::move(reason);
}

}  // namespace saccade::transport
