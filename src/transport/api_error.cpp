#include "transport/api_error.h"

#include "transport/json_text.h"

namespace saccade::transport {
namespace {

int status_of(core::ErrorCode code) {
  switch (code) {
    case core::ErrorCode::kUsage:
    case core::ErrorCode::kMediaUnusable:
    case core::ErrorCode::kUnsupported:
      return 400;
    case core::ErrorCode::kUnauthorized:
      return 401;
    case core::ErrorCode::kSourceUnreachable:
      return 422;
    case core::ErrorCode::kExhausted:
      return 429;
    case core::ErrorCode::kTimeout:
      return 504;
    case core::ErrorCode::kCancelled:
      return 499;
    case core::ErrorCode::kClosed:
      return 503;
    case core::ErrorCode::kModelUnusable:
    case core::ErrorCode::kNumeric:
    case core::ErrorCode::kInternal:
      return 500;
  }
  return 500;
}

}  // namespace

std::string_view error_type(const ApiError& error) {
  if (error.code == "exceed_context_size_error") return "exceed_context_size_error";
  switch (error.status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 503:
    case 504:
      return "unavailable_error";
    default:
      return error.status < 500 ? "invalid_request_error" : "server_error";
  }
}

std::string to_json(const ApiError& error) {
  JsonObject inner;
  inner.text("message", error.message);
  inner.text("type", error_type(error));
  if (error.param.empty()) {
    inner.raw("param", "null");
  } else {
    inner.text("param", error.param);
  }
  inner.text("code", error.code);
  std::string text = inner.str();
  if (!error.extra.empty()) text.insert(text.size() - 1, "," + error.extra);
  JsonObject outer;
  outer.raw("error", text);
  return outer.str();
}

HttpReply to_reply(const ApiError& error) {
  HttpReply reply{.status = error.status, .body = to_json(error)};
  if (error.retry_after_s > 0) {
    reply.headers.emplace_back("Retry-After", std::to_string(error.retry_after_s));
  }
  if (error.status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

ApiError api_error(const core::Error& error) {
  ApiError out{.status = status_of(error.code),
               .message = error.message,
               .code = std::string(core::name_of(error.code))};
  if (error.code == core::ErrorCode::kInternal) {
    out.message = "something went wrong inside the server";
  } else if (!error.hint.empty()) {
    out.message += " (" + error.hint + ")";
  }
  return out;
}

}  // namespace saccade::transport
