#include "transport/response_form.h"

#include <cstdint>
#include <utility>

#include "transport/json_text.h"

namespace saccade::transport {
namespace {

std::string text_part(std::string_view text) {
  JsonObject json;
  json.text("type", "output_text");
  json.raw("annotations", "[]");
  json.raw("logprobs", "[]");
  json.text("text", text);
  return json.str();
}

std::string usage_json(const ChatUsage& usage, bool extension) {
  const auto input = static_cast<std::uint64_t>(usage.prompt_tokens);
  const auto output = static_cast<std::uint64_t>(usage.answer_tokens);
  JsonObject json;
  json.count("input_tokens", input);
  json.raw("input_tokens_details", R"({"cached_tokens":0})");
  json.count("output_tokens", output);
  json.raw("output_tokens_details", R"({"reasoning_tokens":0})");
  json.count("total_tokens", input + output);
  if (extension) {
    JsonObject more;
    more.count("visual_tokens", static_cast<std::uint64_t>(usage.visual_tokens));
    json.raw("saccade", more.str());
  }
  return json.str();
}

class ResponseForm final : public AnswerForm {
 public:
  explicit ResponseForm(ResponseFrame frame)
      : frame_(std::move(frame)), item_id_("msg_" + frame_.id) {}

  std::string whole(const std::vector<ChatChoice>& choices, const ChatUsage& usage) override {
    const ChatChoice& choice = choices.front();
    text_ = choice.text;
    cut_ = choice.finish != "stop";
    return response(state(), &usage);
  }

  SseEvents begin(int /*choice*/) override {
    SseEvents out;
    add(out, "response.created", "response", response("in_progress", nullptr));
    add(out, "response.in_progress", "response", response("in_progress", nullptr));
    JsonObject item;
    item.count("output_index", 0);
    item.raw("item", message("in_progress", "[]"));
    add(out, "response.output_item.added", item);
    add_part(out, "response.content_part.added", "");
    return out;
  }

  SseEvents piece(int /*choice*/, const ChatChoice& piece) override {
    text_ += piece.text;
    SseEvents out;
    JsonObject json = place();
    json.text("delta", piece.text);
    json.raw("logprobs", "[]");
    add(out, "response.output_text.delta", json);
    return out;
  }

  SseEvents end(int /*choice*/, std::string_view reason) override {
    cut_ = reason != "stop";
    SseEvents out;
    JsonObject json = place();
    json.text("text", text_);
    json.raw("logprobs", "[]");
    add(out, "response.output_text.done", json);
    add_part(out, "response.content_part.done", text_);
    JsonObject item;
    item.count("output_index", 0);
    item.raw("item", message(state(), "[" + text_part(text_) + "]"));
    add(out, "response.output_item.done", item);
    return out;
  }

  SseEvents finish(const ChatUsage& usage) override {
    SseEvents out;
    add(out, "response." + std::string(state()), "response", response(state(), &usage));
    return out;
  }

  SseEvent failed(const ApiError& error) override {
    JsonObject json = numbered("error");
    json.text("code", error.code);
    json.text("message", error.message);
    json.raw("param", error.param.empty() ? "null" : json_quote(error.param));
    return {"error", json.str()};
  }

 private:
  std::string_view state() const { return cut_ ? "incomplete" : "completed"; }

  JsonObject numbered(std::string_view type) {
    JsonObject json;
    json.text("type", type);
    json.count("sequence_number", sequence_++);
    return json;
  }
  void add(SseEvents& out, const std::string& type, std::string_view key, std::string_view value) {
    JsonObject json = numbered(type);
    json.raw(key, value);
    out.push_back({type, json.str()});
  }
  // `members` go behind the type.
  void add(SseEvents& out, const std::string& type, const JsonObject& members) {
    const std::string head = numbered(type).str();
    out.push_back({type, head.substr(0, head.size() - 1) + "," + members.str().substr(1)});
  }
  void add_part(SseEvents& out, const std::string& type, std::string_view text) {
    JsonObject json = place();
    json.raw("part", text_part(text));
    add(out, type, json);
  }
  JsonObject place() const {
    JsonObject json;
    json.text("item_id", item_id_);
    json.count("output_index", 0);
    json.count("content_index", 0);
    return json;
  }

  std::string message(std::string_view status, std::string_view content) const {
    JsonObject json;
    json.text("type", "message");
    json.text("id", item_id_);
    json.text("status", status);
    json.text("role", "assistant");
    json.raw("content", content);
    return json.str();
  }

  // `usage` null: it has only begun.
  std::string response(std::string_view status, const ChatUsage* usage) const {
    JsonObject json;
    json.text("id", frame_.id);
    json.text("object", "response");
    json.count("created_at", static_cast<std::uint64_t>(frame_.chat.created));
    json.text("status", status);
    json.raw("error", "null");
    json.raw("incomplete_details",
             status == "incomplete" ? R"({"reason":"max_output_tokens"})" : "null");
    json.raw("instructions",
             frame_.instructions.empty() ? "null" : json_quote(frame_.instructions));
    json.raw("max_output_tokens",
             frame_.max_output_tokens ? std::to_string(*frame_.max_output_tokens) : "null");
    json.text("model", frame_.chat.model);
    const std::string content = "[" + text_part(text_) + "]";
    json.raw("output", usage ? "[" + message(status, content) + "]" : "[]");
    json.raw("parallel_tool_calls", "false");
    json.raw("previous_response_id", "null");
    json.raw("store", "false");
    json.number("temperature", frame_.temperature, 4);
    json.raw("text", R"({"format":{"type":"text"}})");
    json.text("tool_choice", "none");
    json.raw("tools", "[]");
    json.number("top_p", frame_.top_p, 4);
    json.text("truncation", "disabled");
    json.raw("usage", usage ? usage_json(*usage, frame_.chat.extension) : "null");
    json.raw("metadata", "{}");
    return json.str();
  }

  const ResponseFrame frame_;
  const std::string item_id_;
  std::string text_;  // so far
  bool cut_ = false;  // it ended for its length
  std::uint64_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<AnswerForm> response_form(ResponseFrame frame) {
  return std::make_unique<ResponseForm>(std::move(frame));
}

}  // namespace saccade::transport
