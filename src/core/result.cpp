#include "core/result.h"

namespace saccade::core {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kMediaUnusable:
      return "media_unusable";
    case ErrorCode::kModelUnusable:
      return "model_unusable";
    case ErrorCode::kSourceUnreachable:
      return "source_unreachable";
    case ErrorCode::kUnauthorized:
      return "unauthorized";
    case ErrorCode::kExhausted:
      return "exhausted";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kClosed:
      return "closed";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNumeric:
      return "numeric_error";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return 2;
    case ErrorCode::kMediaUnusable:
      return 3;
    case ErrorCode::kModelUnusable:
      return 4;
    case ErrorCode::kSourceUnreachable:
    case ErrorCode::kUnauthorized:
      return 5;
    case ErrorCode::kExhausted:
      return 6;
    default:
      return 1;
  }
}

}  // namespace saccade::core
