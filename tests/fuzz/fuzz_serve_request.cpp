// Any bytes as the bodies of requests: refused with one line, or values inside their ranges.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "transport/chat_request.h"
#include "transport/response_request.h"
#include "transport/stream_request.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

using namespace saccade::transport;  // NOLINT: a fuzzer is one file

void check_chat(const saccade::core::Result<ChatRequest>& request) {
  if (!request) {
    require(!request.error().message.empty());
    return;
  }
  require(!request->messages.empty() && request->messages.size() <= kMessagesMax);
  require(request->choices >= 1 && request->choices <= kChoicesMax);
  if (request->temperature) require(*request->temperature >= 0 && *request->temperature <= 5);
  if (request->top_p) require(*request->top_p > 0 && *request->top_p <= 1);
  if (request->min_p) require(*request->min_p >= 0 && *request->min_p < 1);
  if (request->max_tokens) require(*request->max_tokens >= 1);
  std::size_t media = 0;
  for (const ChatMessage& message : request->messages) {
    for (const ChatPart& part : message.parts) {
      if (part.kind == ChatPart::Kind::kText) continue;
      ++media;
      require(!part.where.empty());
      require(part.media.bytes.empty() || part.media.file_path.empty());
    }
  }
  require(media <= 64);
}

void check_stream(std::string_view body) {
  std::string fault;
  for (const bool change : {false, true}) {
    const auto request = parse_stream_request(body, change, fault);
    if (request && !change) require(!request->source.empty());
    if (request && request->fps) require(*request->fps > 0 && *request->fps <= 60);
  }
  if (const auto question = parse_stream_question(body, fault)) require(!question->text.empty());
  (void)parse_tokenize_request(body, fault);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  std::string fault;
  check_chat(parse_chat_request(body, fault));
  auto response = parse_response_request(body, fault);
  if (response) check_chat(std::move(response->chat));
  check_stream(body);
  return 0;
}
