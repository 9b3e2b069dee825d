#pragma once
// POST /v1/responses, as OpenAI's clients expect it: one message of one text. Nothing is stored, so
// an id of a response refers to nothing later.
#include <memory>
#include <optional>
#include <string>

#include "transport/answer_form.h"

namespace saccade::transport {

struct ResponseFrame {
  ChatFrame chat;  // `id` is not used
  std::string id;  // "resp_…"
  std::string instructions;
  std::optional<int> max_output_tokens;
  double temperature = 0, top_p = 1;
};
std::unique_ptr<AnswerForm> response_form(ResponseFrame frame);

}  // namespace saccade::transport
