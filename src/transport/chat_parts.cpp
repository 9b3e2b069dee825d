#include "transport/chat_parts.h"

#include <utility>

#include "core/limits.h"

namespace saccade::transport {

namespace limits = core::limits;
using core::ErrorCode;
using Kind = ChatPart::Kind;

namespace {

constexpr std::size_t kTextBytesMax = limits::kConversationBytesMax;
constexpr std::size_t kMediumTextBytesMax = 256ULL << 20;  // the body's own limit is lower
constexpr std::size_t kNameBytesMax = 256;

}  // namespace

void read_medium(const JsonReader& part, const char* key, ChatPart& out) {
  const auto holder = part.member(key);
  if (!holder) {
    return part.fail_at(key, ErrorCode::kUsage, "is missing");
  }
  std::string text;
  if (holder->is_text()) {
    text = holder->take_text();
  } else if (holder->is_object()) {
    auto data = holder->text("data", kMediumTextBytesMax);
    if (!data) data = holder->text("url", kMediumTextBytesMax);
    if (!data) return holder->fail_at("url", ErrorCode::kUsage, "is missing");
    text = std::move(*data);
    if (out.kind == Kind::kVideo) {
      out.fps = holder->number("fps", {0.01, 60}).value_or(out.fps);
      out.pictures_max = static_cast<int>(
          holder->integer("pictures_max", {1, kVideoPicturesMax}).value_or(out.pictures_max));
    }
  } else {
    return holder->fail(ErrorCode::kUsage, "must be an object with a url");
  }
  auto media = read_media(text);
  if (!media)
    return part.fail(media.error().code, ": " + media.error().message, media.error().hint);
  out.media = std::move(*media);
}

void read_text(const JsonReader& part, const char* key, ChatPart& out) {
  auto text = part.text(key, kTextBytesMax);
  if (!text) return part.fail_at(key, ErrorCode::kUsage, "is missing");
  out.text = std::move(*text);
}

bool read_role(const JsonReader& item, ChatMessage& message) {
  const std::string role = item.text("role", kNameBytesMax).value_or("");
  if (role == "system" || role == "developer") {
    message.role = ChatMessage::Role::kSystem;
  } else if (role == "assistant") {
    message.role = ChatMessage::Role::kAssistant;
  } else if (role != "user") {
    const bool tool = role == "tool" || role == "function";
    item.fail_at("role", tool ? ErrorCode::kUnsupported : ErrorCode::kUsage,
                 tool ? "is a tool's; tools are not offered"
                      : "is none of system, developer, user, assistant");
    return false;
  }
  return true;
}

void read_content(const JsonReader& item, ChatMessage& message,
                  const std::function<void(const JsonReader&, ChatMessage&)>& read_part) {
  const auto content = item.member("content");
  if (!content) {
    // An assistant's turn may be empty, the others ask something.
    if (message.role == ChatMessage::Role::kAssistant) return;
    return item.fail_at("content", ErrorCode::kUsage, "is missing or null");
  }
  if (content->is_text()) {
    auto text = item.text("content", kTextBytesMax);
    if (text) {
      message.parts.push_back(
          {.kind = Kind::kText, .text = std::move(*text), .media = {}, .where = content->path()});
    }
    return;
  }
  for (const JsonReader& part : content->items(kPartsMax)) {
    read_part(part, message);
    if (part.failed()) return;
  }
}

void check_media(const JsonReader& body, const char* key, const ChatRequest& request) {
  std::size_t media = 0;
  for (const ChatMessage& message : request.messages) {
    for (const ChatPart& part : message.parts) media += part.kind != Kind::kText;
  }
  if (media <= limits::kAskMediaMax) return;
  body.fail_at(key, ErrorCode::kUsage,
               "hold " + std::to_string(media) + " media, allowed are at most " +
                   std::to_string(limits::kAskMediaMax));
}

}  // namespace saccade::transport
