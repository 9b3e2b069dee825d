#include "transport/chat_request.h"

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
constexpr std::int64_t kTopLogprobsMax = 20;              // as many as the engines tell
constexpr std::int64_t kSeedMax = std::int64_t{1} << 53;  // what JSON numbers carry exactly

struct PartName {
  std::string_view type;
  Kind kind;
  const char* member;
};
// Our spelling first, then those of vLLM and llama-server.
constexpr std::array kPartNames = {
    PartName{"text", Kind::kText, "text"},
    PartName{"image_url", Kind::kImage, "image_url"},
    PartName{"input_audio", Kind::kAudio, "input_audio"},
    PartName{"audio_url", Kind::kAudio, "audio_url"},
    PartName{"video_url", Kind::kVideo, "video_url"},
    PartName{"input_video", Kind::kVideo, "input_video"},
};

void read_part(const JsonReader& part, ChatMessage& message) {
  if (!part.is_object()) return part.fail(ErrorCode::kUsage, "must be an object with a type");
  const std::string type = part.text("type", kNameBytesMax).value_or("");
  const auto name = std::find_if(kPartNames.begin(), kPartNames.end(),
                                 [&](const PartName& known) { return known.type == type; });
  if (name == kPartNames.end()) {
    return part.fail_at("type", ErrorCode::kUsage,
                        "is none of text, image_url, input_audio, audio_url, video_url, "
                        "input_video");
  }
  ChatPart& out = message.parts.emplace_back();
  out.kind = name->kind;
  out.where = part.path();
  if (name->kind != Kind::kText) return read_medium(part, name->member, out);
  read_text(part, name->member, out);
}

void read_message(const JsonReader& item, ChatRequest& request) {
  if (!item.is_object()) return item.fail(ErrorCode::kUsage, "must be an object");
  ChatMessage& message = request.messages.emplace_back();
  if (!read_role(item, message)) return;
  read_content(item, message, read_part);
}

// Things that would change the answer and that we do not have.
void refuse_unsupported(const JsonReader& body) {
  const auto no = [&](const char* key, const std::string& why) {
    body.fail_at(key, ErrorCode::kUnsupported, "is not supported: " + why);
  };
  for (const char* key : {"tools", "functions", "logit_bias"}) {
    const auto value = body.member(key);
    if (value && !value->is_empty()) no(key, "leave it out");
  }
  for (const char* key : {"presence_penalty", "frequency_penalty"}) {
    if (body.number(key, {-2, 2}).value_or(0) != 0) no(key, "only 0");
  }
  if (const auto format = body.object("response_format")) {
    const auto type = format->text("type", kNameBytesMax);
    if (type && *type != "text") no("response_format", "only text");
  }
  if (const auto modalities = body.member("modalities")) {
    for (const JsonReader& item : modalities->items(8)) {
      if (item.take_text() != "text") no("modalities", "only text");
    }
  }
}

void read_stops(const JsonReader& body, ChatRequest& request) {
  const auto stop = body.member("stop");
  if (!stop) return;
  if (stop->is_text()) {
    request.stops.push_back(stop->take_text());
  } else {
    for (const JsonReader& item : stop->items(limits::kStopStringsMax)) {
      if (!item.is_text()) return item.fail(ErrorCode::kUsage, "must be a string");
      request.stops.push_back(item.take_text());
    }
  }
  for (const std::string& text : request.stops) {
    if (text.empty() || text.size() > limits::kStopStringBytesMax) {
      stop->fail(ErrorCode::kUsage, "holds a string of " + std::to_string(text.size()) +
                                        " bytes, allowed are 1.." +
                                        std::to_string(limits::kStopStringBytesMax));
    }
  }
}

template <typename To, typename From>
std::optional<To> narrowed(const std::optional<From>& value) {
  return value ? std::optional<To>(static_cast<To>(*value)) : std::nullopt;
}

}  // namespace

void read_sampling(const JsonReader& body, ChatRequest& request) {
  constexpr IntegerRange kTokens{1, 1 << 20};
  request.max_tokens = narrowed<int>(body.integer("max_completion_tokens", kTokens));
  if (!request.max_tokens) request.max_tokens = narrowed<int>(body.integer("max_tokens", kTokens));
  request.temperature = narrowed<float>(body.number("temperature", {0, 5}));
  request.top_p = narrowed<float>(body.number("top_p", {0.01, 1}));
  request.min_p = narrowed<float>(body.number("min_p", {0, 0.99}));
  request.seed = narrowed<std::uint64_t>(body.integer("seed", {0, kSeedMax}));
  request.logprobs = body.flag("logprobs").value_or(false);
  request.top_logprobs =
      static_cast<int>(body.integer("top_logprobs", {0, kTopLogprobsMax}).value_or(0));
  if (request.top_logprobs > 0 && !request.logprobs) {
    body.fail_at("top_logprobs", core::ErrorCode::kUsage, "needs logprobs to be true");
  }
  read_stops(body, request);
}

core::Result<ChatRequest> parse_chat_request(std::string_view text, std::string& fault) {
  auto document = JsonDocument::parse(text);
  if (!document) return document.error();
  const JsonReader body = document->root();
  ChatRequest request;
  if (!body.is_object()) body.fail(ErrorCode::kUsage, "must be an object");
  request.model = body.text("model", kNameBytesMax).value_or("");
  request.stream = body.flag("stream").value_or(false);
  if (const auto options = body.object("stream_options")) {
    request.include_usage = options->flag("include_usage").value_or(false);
  }
  request.extension = body.flag("saccade").value_or(false);
  request.choices = static_cast<int>(body.integer("n", {1, kChoicesMax}).value_or(1));
  read_sampling(body, request);
  refuse_unsupported(body);
  if (!body.has("messages")) body.fail_at("messages", ErrorCode::kUsage, "is missing");
  for (const JsonReader& item : body.items("messages", kMessagesMax)) {
    read_message(item, request);
    if (body.failed()) break;
  }
  if (request.messages.empty()) body.fail_at("messages", ErrorCode::kUsage, "is empty");
  check_media(body, "messages", request);
  if (!body.failed()) return request;
  fault = document->error().param;
  return *document->error().error;
}

}  // namespace saccade::transport
