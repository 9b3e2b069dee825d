#include "transport/response_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/limits.h"
#include "transport/chat_parts.h"

namespace saccade::transport {
namespace {

namespace limits = core::limits;
using core::ErrorCode;
using Kind = ChatPart::Kind;

constexpr std::size_t kNameBytesMax = 256;

struct PartName {
  std::string_view type;
  Kind kind;
  const char* member;
};
// The official ones first; the medium stands in `member`.
constexpr std::array kPartNames = {
    PartName{"input_text", Kind::kText, "text"},
    PartName{"output_text", Kind::kText, "text"},
    PartName{"input_image", Kind::kImage, "image_url"},
    PartName{"input_audio", Kind::kAudio, "input_audio"},
    PartName{"input_video", Kind::kVideo, "video_url"},
};

void read_part(const JsonReader& part, ChatMessage& message) {
  if (!part.is_object()) return part.fail(ErrorCode::kUsage, "must be an object with a type");
  const std::string type = part.text("type", kNameBytesMax).value_or("");
  const auto name = std::find_if(kPartNames.begin(), kPartNames.end(),
                                 [&](const PartName& known) { return known.type == type; });
  if (name == kPartNames.end()) {
    return part.fail_at(
        "type", ErrorCode::kUsage,
        "is none of input_text, output_text, input_image, input_audio, input_video");
  }
  ChatPart& out = message.parts.emplace_back();
  out.kind = name->kind;
  out.where = part.path();
  if (name->kind != Kind::kText) return read_medium(part, name->member, out);
  read_text(part, name->member, out);
}

void read_item(const JsonReader& item, ChatRequest& request) {
  if (!item.is_object()) return item.fail(ErrorCode::kUsage, "must be an object");
  const std::string type = item.text("type", kNameBytesMax).value_or("message");
  if (type != "message") {
    return item.fail_at("type", ErrorCode::kUnsupported,
                        "is not supported: only messages; nothing is stored, no tool offered");
  }
  ChatMessage& message = request.messages.emplace_back();
  if (!read_role(item, message)) return;
  read_content(item, message, read_part);
}

void refuse_unsupported(const JsonReader& body) {
  const auto no = [&](const char* key, const std::string& why) {
    body.fail_at(key, ErrorCode::kUnsupported, "is not supported: " + why);
  };
  for (const char* key : {"previous_response_id", "conversation", "prompt"}) {
    if (body.has(key)) no(key, "nothing is stored here; send the whole conversation as input");
  }
  for (const char* key : {"store", "background"}) {
    if (body.flag(key).value_or(false)) no(key, "only false");
  }
  const auto tools = body.member("tools");
  if (tools && !tools->is_empty()) no("tools", "leave it out");
  if (const auto text = body.object("text")) {
    const auto format = text->object("format");
    if (format && format->text("type", kNameBytesMax).value_or("text") != "text") {
      no("text", "only the format text");
    }
  }
  if (body.text("truncation", kNameBytesMax).value_or("disabled") != "disabled") {
    no("truncation", "only disabled");
  }
  if (body.integer("top_logprobs", {0, 20}).value_or(0) != 0) no("top_logprobs", "only 0");
}

}  // namespace

core::Result<ResponseRequest> parse_response_request(std::string_view text, std::string& fault) {
  auto document = JsonDocument::parse(text);
  if (!document) return document.error();
  const JsonReader body = document->root();
  ResponseRequest out;
  ChatRequest& request = out.chat;
  if (!body.is_object()) body.fail(ErrorCode::kUsage, "must be an object");
  request.model = body.text("model", kNameBytesMax).value_or("");
  request.stream = body.flag("stream").value_or(false);
  request.extension = body.flag("saccade").value_or(false);
  read_sampling(body, request);
  if (const auto most = body.integer("max_output_tokens", {1, 1 << 20})) {
    request.max_tokens = static_cast<int>(*most);
  }
  refuse_unsupported(body);
  out.instructions = body.text("instructions", limits::kConversationBytesMax).value_or("");
  if (!out.instructions.empty()) {
    ChatMessage& system = request.messages.emplace_back();
    system.role = ChatMessage::Role::kSystem;
    ChatPart& part = system.parts.emplace_back();
    part.text = out.instructions;
    part.where = "instructions";
  }
  const auto input = body.member("input");
  if (!input) {
    body.fail_at("input", ErrorCode::kUsage, "is missing");
  } else if (input->is_text()) {
    ChatPart& part = request.messages.emplace_back().parts.emplace_back();
    part.where = "input";
    read_text(body, "input", part);
  } else {
    for (const JsonReader& item : input->items(kMessagesMax)) {
      read_item(item, request);
      if (body.failed()) break;
    }
    if (request.messages.empty()) body.fail_at("input", ErrorCode::kUsage, "is empty");
  }
  check_media(body, "input", request);
  if (!body.failed()) return out;
  fault = document->error().param;
  return *document->error().error;
}

}  // namespace saccade::transport
