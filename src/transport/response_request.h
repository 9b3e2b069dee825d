#pragma once
// The body of POST /v1/responses, read into what a chat asks: `instructions` and `input` become
// messages. Nothing is stored here, so what refers to an earlier response is refused by name, and
// so is what would change the answer and that we do not have. docs/serve.md lists it. Pure.
#include <string>
#include <string_view>

#include "core/result.h"
#include "transport/chat_request.h"

namespace saccade::transport {

struct ResponseRequest {
  ChatRequest chat;
  std::string instructions;  // told again in the reply
};

// Errors: as parse_chat_request.
core::Result<ResponseRequest> parse_response_request(std::string_view body, std::string& fault);

}  // namespace saccade::transport
