#include "transport/chat_json.h"

#include "transport/json_text.h"

namespace saccade::transport {
namespace {

JsonObject envelope(const ChatFrame& frame, std::string_view object) {
  JsonObject json;
  json.text("id", frame.id);
  json.text("object", object);
  json.count("created", static_cast<std::uint64_t>(frame.created));
  json.text("model", frame.model);
  return json;
}

std::string usage_json(const ChatFrame& frame, const ChatUsage& usage) {
  JsonObject json;
  json.count("prompt_tokens", static_cast<std::uint64_t>(usage.prompt_tokens));
  json.count("completion_tokens", static_cast<std::uint64_t>(usage.answer_tokens));
  json.count("total_tokens", static_cast<std::uint64_t>(usage.prompt_tokens) +
                                 static_cast<std::uint64_t>(usage.answer_tokens));
  if (frame.extension) {
    JsonObject more;
    more.count("visual_tokens", static_cast<std::uint64_t>(usage.visual_tokens));
    json.raw("saccade", more.str());
  }
  return json.str();
}

std::string bytes_json(const std::string& bytes) {
  JsonArray list;
  for (const char c : bytes) list.add(std::to_string(static_cast<unsigned char>(c)));
  return list.str();
}

std::string logprobs_json(const std::vector<TokenInfo>& tokens) {
  JsonArray list;
  for (const TokenInfo& token : tokens) {
    JsonObject json;
    json.text("token", token.bytes);
    json.number("logprob", token.logprob, 6);
    json.raw("bytes", bytes_json(token.bytes));
    json.raw("top_logprobs", "[]");
    list.add(json.str());
  }
  JsonObject out;
  out.raw("content", list.str());
  out.raw("refusal", "null");
  return out.str();
}

std::string chunk(const ChatFrame& frame, int choice, std::string_view delta,
                  std::string_view finish, std::string_view logprobs = "null") {
  JsonObject one;
  one.count("index", static_cast<std::uint64_t>(choice));
  one.raw("delta", delta);
  one.raw("logprobs", logprobs);
  one.raw("finish_reason", finish);
  JsonObject json = envelope(frame, "chat.completion.chunk");
  json.raw("choices", "[" + one.str() + "]");
  return json.str();
}

}  // namespace

std::string completion_json(const ChatFrame& frame, const std::vector<ChatChoice>& choices,
                            const ChatUsage& usage) {
  JsonArray list;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    JsonObject message;
    message.text("role", "assistant");
    message.text("content", choices[i].text);
    message.raw("refusal", "null");
    JsonObject one;
    one.count("index", i);
    one.raw("message", message.str());
    one.raw("logprobs", choices[i].logprobs ? logprobs_json(choices[i].tokens) : "null");
    one.text("finish_reason", choices[i].finish);
    list.add(one.str());
  }
  JsonObject json = envelope(frame, "chat.completion");
  json.raw("choices", list.str());
  json.raw("usage", usage_json(frame, usage));
  return json.str();
}

std::string role_chunk(const ChatFrame& frame, int choice) {
  return chunk(frame, choice, R"({"role":"assistant","content":""})", "null");
}

std::string text_chunk(const ChatFrame& frame, int choice, const ChatChoice& piece) {
  JsonObject delta;
  delta.text("content", piece.text);
  return chunk(frame, choice, delta.str(), "null",
               piece.logprobs ? logprobs_json(piece.tokens) : "null");
}

std::string finish_chunk(const ChatFrame& frame, int choice, std::string_view reason) {
  return chunk(frame, choice, "{}", json_quote(reason));
}

std::string usage_chunk(const ChatFrame& frame, const ChatUsage& usage) {
  JsonObject json = envelope(frame, "chat.completion.chunk");
  json.raw("choices", "[]");
  json.raw("usage", usage_json(frame, usage));
  return json.str();
}

}  // namespace saccade::transport
