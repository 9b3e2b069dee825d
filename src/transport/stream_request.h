#pragma once
// Bodies of POST and PATCH /v1/streams and of questions to a stream, as typed values. Pure.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "transport/chat_request.h"

namespace saccade::transport {

struct StreamPrompt {
  std::string id;  // empty = one is made
  std::string text;
  bool alert = false;  // yes or no
};

// Unset = the server's own setting, or as it was.
struct StreamRequest {
  std::string id;      // POST; empty = one is made
  std::string source;  // POST: rtsp://… and its like, or file:///… below the media folder
  std::optional<std::vector<StreamPrompt>> prompts;  // questions and alerts together
  std::optional<std::vector<std::string>> senses;    // POST: see, read, hear
  std::optional<double> fps, refresh_s;
  std::optional<int> change_threshold, max_new_tokens;
  std::optional<std::string> policy;
  std::optional<int> slo_ms;
  bool realtime = false, loop = false;  // POST, files
};

struct StreamQuestion {
  std::string text;
  ChatRequest sampling;  // its sampling fields, stream and usage
};

// Errors: kUsage; `fault` then says which field.
core::Result<StreamRequest> parse_stream_request(std::string_view body, bool change,
                                                 std::string& fault);
core::Result<StreamQuestion> parse_stream_question(std::string_view body, std::string& fault);

// {"content": …} or {"prompt": …} of POST /tokenize; also {"text": …}.
core::Result<std::string> parse_tokenize_request(std::string_view body, std::string& fault);

}  // namespace saccade::transport
