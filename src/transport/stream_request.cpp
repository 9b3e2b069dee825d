#include "transport/stream_request.h"

#include <algorithm>
#include <utility>

#include "core/limits.h"
#include "transport/read_json.h"

namespace saccade::transport {
namespace {

namespace limits = core::limits;
using core::ErrorCode;

constexpr std::size_t kNameBytesMax = 64;

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kNameBytesMax &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
             ".") == text.npos;
}

std::string read_name(const JsonReader& value, const char* key) {
  std::string name = value.text(key, kNameBytesMax).value_or("");
  if (!name.empty() && !is_name(name)) {
    value.fail_at(key, ErrorCode::kUsage, "may hold letters, digits, '_', '-' and '.' only");
  }
  return name;
}

// Texts, or objects {"id", "text"}.
void read_prompts(const JsonReader& body, const char* key, bool alert, StreamRequest& request) {
  if (!body.has(key)) return;
  if (!request.prompts) request.prompts.emplace();
  for (const JsonReader& item : body.items(key, limits::kPromptsMax)) {
    StreamPrompt prompt{.id = {}, .text = {}, .alert = alert};
    if (item.is_text()) {
      prompt.text = item.take_text();
    } else if (item.is_object()) {
      prompt.id = read_name(item, "id");
      prompt.text = item.text("text", limits::kPromptBytesMax).value_or("");
    }
    if (prompt.text.empty() || prompt.text.size() > limits::kPromptBytesMax) {
      return item.fail(ErrorCode::kUsage, "must be a text of 1.." +
                                              std::to_string(limits::kPromptBytesMax) +
                                              " bytes, or an object with one");
    }
    request.prompts->push_back(std::move(prompt));
  }
}

void read_senses(const JsonReader& body, StreamRequest& request) {
  if (!body.has("senses")) return;
  request.senses.emplace();
  for (const JsonReader& item : body.items("senses", 3)) {
    std::string name = item.take_text();
    if (name != "see" && name != "read" && name != "hear") {
      return item.fail(ErrorCode::kUsage, "is none of see, read, hear");
    }
    request.senses->push_back(std::move(name));
  }
}

template <typename Value>
core::Result<Value> finished(const JsonDocument& document, Value value, std::string& fault) {
  if (!document.error().error) return value;
  fault = document.error().param;
  return *document.error().error;
}

}  // namespace

core::Result<StreamRequest> parse_stream_request(std::string_view text, bool change,
                                                 std::string& fault) {
  auto document = JsonDocument::parse(text);
  if (!document) return document.error();
  const JsonReader body = document->root();
  StreamRequest request;
  if (!body.is_object()) body.fail(ErrorCode::kUsage, "must be an object");
  if (change) {
    for (const char* key : {"id", "source", "senses", "fps", "realtime", "loop"}) {
      if (body.has(key)) body.fail_at(key, ErrorCode::kUsage, "cannot be changed while it runs");
    }
  } else {
    request.id = read_name(body, "id");
    request.source = body.text("source", limits::kSourceUrlBytesMax).value_or("");
    if (request.source.empty()) body.fail_at("source", ErrorCode::kUsage, "is missing");
    read_senses(body, request);
    request.fps = body.number("fps", {0.01, 60});
    request.realtime = body.flag("realtime").value_or(false);
    request.loop = body.flag("loop").value_or(false);
  }
  read_prompts(body, "prompts", false, request);
  read_prompts(body, "alerts", true, request);
  request.policy = body.text("policy", kNameBytesMax);
  if (const auto slo = body.integer("slo_ms", {1, 600'000})) {
    request.slo_ms = static_cast<int>(*slo);
  }
  request.refresh_s = body.number("refresh_s", {0.1, 86'400});
  if (const auto level = body.integer("change_threshold", {0, 255})) {
    request.change_threshold = static_cast<int>(*level);
  }
  if (const auto tokens = body.integer("max_new_tokens", {1, 4096})) {
    request.max_new_tokens = static_cast<int>(*tokens);
  }
  return finished(*document, std::move(request), fault);
}

core::Result<StreamQuestion> parse_stream_question(std::string_view text, std::string& fault) {
  auto document = JsonDocument::parse(text);
  if (!document) return document.error();
  const JsonReader body = document->root();
  StreamQuestion question;
  if (!body.is_object()) body.fail(ErrorCode::kUsage, "must be an object");
  question.text = body.text("question", limits::kPromptBytesMax).value_or("");
  if (question.text.empty()) body.fail_at("question", ErrorCode::kUsage, "is missing");
  question.sampling.stream = body.flag("stream").value_or(false);
  read_sampling(body, question.sampling);
  return finished(*document, std::move(question), fault);
}

core::Result<std::string> parse_tokenize_request(std::string_view text, std::string& fault) {
  auto document = JsonDocument::parse(text);
  if (!document) return document.error();
  const JsonReader body = document->root();
  std::optional<std::string> content;
  for (const char* key : {"content", "prompt", "text"}) {
    if (!content) content = body.text(key, limits::kConversationBytesMax);
  }
  if (!content) body.fail_at("content", ErrorCode::kUsage, "is missing");
  return finished(*document, content.value_or(""), fault);
}

}  // namespace saccade::transport
