#pragma once
// Answers in the words of OpenAI's chat completions. Pure.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace saccade::transport {

struct TokenInfo {
  std::string bytes;
  double logprob = 0;
  std::vector<TokenInfo> top = {};  // the most probable ones, itself perhaps among them
};

struct ChatUsage {
  int prompt_tokens = 0, visual_tokens = 0, answer_tokens = 0;
};

// What is the same in every object of one completion.
struct ChatFrame {
  std::string id;  // "chatcmpl-…"
  std::string model;
  std::int64_t created = 0;  // seconds since 1970
  bool extension = false;    // add the block `saccade` to the usage
};

struct ChatChoice {
  std::string text, finish;  // "stop" or "length"
  std::vector<TokenInfo> tokens;
  bool logprobs = false;
};

std::string completion_json(const ChatFrame& frame, const std::vector<ChatChoice>& choices,
                            const ChatUsage& usage);

// Stream chunks: the role, a piece of text with the tokens that came since the piece before, the
// empty last one with the reason, and the usage.
std::string role_chunk(const ChatFrame& frame, int choice);
std::string text_chunk(const ChatFrame& frame, int choice, const ChatChoice& piece);
std::string finish_chunk(const ChatFrame& frame, int choice, std::string_view reason);
std::string usage_chunk(const ChatFrame& frame, const ChatUsage& usage);

}  // namespace saccade::transport
