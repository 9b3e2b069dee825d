#include "transport/chat_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/limits.h"

namespace saccade::transport {
namespace {

namespace limits = core::limits;
using core::ErrorCode;
using Kind = ChatPart::Kind;

constexpr std::size_t kTextBytesMax = limits::kConversationBytesMax;
constexpr std::size_t kMediumTextBytesMax = 256ULL << 20;  // the body's own limit is lower
constexpr std::size_t kNameBytesMax = 256;
constexpr std::int64_t kTopLogprobsMax = 20;              // as many as the engines tell
constexpr std::int64_t kSeedMax = std::int64_t{1} << 53;  // what JSON numbers carry exactly

// A part's medium: {"url": …}, {"data": …} or a bare string.
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
  auto text = part.text("text", kTextBytesMax);
  if (!text) return part.fail_at("text", ErrorCode::kUsage, "is missing");
  out.text = std::move(*text);
}

void read_message(const JsonReader& item, ChatRequest& request) {
  if (!item.is_object()) return item.fail(ErrorCode::kUsage, "must be an object");
  ChatMessage& message = request.messages.emplace_back();
  const std::string role = item.text("role", kNameBytesMax).value_or("");
  if (role == "system" || role == "developer") {
    message.role = ChatMessage::Role::kSystem;
  } else if (role == "assistant") {
    message.role = ChatMessage::Role::kAssistant;
  } else if (role != "user") {
    const bool tool = role == "tool" || role == "function";
    return item.fail_at("role", tool ? ErrorCode::kUnsupported : ErrorCode::kUsage,
                        tool ? "is a tool's; tools are not offered"
                             : "is none of system, developer, user, assistant");
  }
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
  std::size_t media = 0;
  for (const JsonReader& item : body.items("messages", kMessagesMax)) {
    read_message(item, request);
    if (body.failed()) break;
    for (const ChatPart& part : request.messages.back().parts) media += part.kind != Kind::kText;
  }
  if (request.messages.empty()) body.fail_at("messages", ErrorCode::kUsage, "is empty");
  if (media > limits::kAskMediaMax) {
    body.fail_at("messages", ErrorCode::kUsage,
                 "hold " + std::to_string(media) + " media, allowed are at most " +
                     std::to_string(limits::kAskMediaMax));
  }
  if (!body.failed()) return request;
  fault = document->error().param;
  return *document->error().error;
}

}  // namespace saccade::transport
