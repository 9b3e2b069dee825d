#pragma once
// Errors as OpenAI's clients expect them, on every route:
// {"error":{"message":…,"type":…,"param":…,"code":…}} with a fitting status. Messages name what is
// wrong with the request; nothing in them comes from inside the process (paths, addresses).
#include <string>

#include "core/result.h"
#include "transport/http_message.h"

namespace saccade::transport {

struct ApiError {
  int status = 500;
  std::string message;
  std::string code;        // machine-readable, lower case
  std::string param = {};  // the field at fault; empty = null
  int retry_after_s = 0;   // 0 = no Retry-After
  // Further members of the error object, as JSON members without braces: "n_ctx":2048
  std::string extra = {};
};

// "invalid_request_error", "authentication_error", ... from the status.
std::string_view error_type(const ApiError& error);

// The object {"error":…}.
std::string to_json(const ApiError& error);
HttpReply to_reply(const ApiError& error);

// An error from below at the edge: its status and code; kInternal loses its message.
ApiError api_error(const core::Error& error);

}  // namespace saccade::transport
