#pragma once
// How an answer is told to its client: as a chat completion or as a response, whole or as
// server-sent events. One object per answer; one thread at a time.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/api_error.h"
#include "transport/chat_json.h"

namespace saccade::transport {

// `name` empty: an event without one.
struct SseEvent {
  std::string name, data;
};
using SseEvents = std::vector<SseEvent>;

class AnswerForm {
 public:
  virtual ~AnswerForm() = default;

  virtual std::string whole(const std::vector<ChatChoice>& choices, const ChatUsage& usage) = 0;

  // Streamed, choice by choice: once begin, any number of pieces (text and tokens since the piece
  // before), once end with why ("stop" or "length"); then finish. Or failed, at any time.
  virtual SseEvents begin(int choice) = 0;
  virtual SseEvents piece(int choice, const ChatChoice& piece) = 0;
  virtual SseEvents end(int choice, std::string_view reason) = 0;
  virtual SseEvents finish(const ChatUsage& usage) = 0;
  virtual SseEvent failed(const ApiError& error) = 0;
};

// POST /v1/chat/completions.
std::unique_ptr<AnswerForm> chat_form(ChatFrame frame, bool include_usage);

}  // namespace saccade::transport
