#include "transport/answer_form.h"

#include <utility>

namespace saccade::transport {
namespace {

class ChatForm final : public AnswerForm {
 public:
  ChatForm(ChatFrame frame, bool include_usage)
      : frame_(std::move(frame)), include_usage_(include_usage) {}

  std::string whole(const std::vector<ChatChoice>& choices, const ChatUsage& usage) override {
    return completion_json(frame_, choices, usage);
  }
  SseEvents begin(int choice) override { return {{"", role_chunk(frame_, choice)}}; }
  SseEvents piece(int choice, const ChatChoice& piece) override {
    return {{"", text_chunk(frame_, choice, piece)}};
  }
  SseEvents end(int choice, std::string_view reason) override {
    return {{"", finish_chunk(frame_, choice, reason)}};
  }
  SseEvents finish(const ChatUsage& usage) override {
    SseEvents out;
    if (include_usage_) out.push_back({"", usage_chunk(frame_, usage)});
    out.push_back({"", "[DONE]"});
    return out;
  }
  SseEvent failed(const ApiError& error) override { return {"", to_json(error)}; }

 private:
  const ChatFrame frame_;
  const bool include_usage_;
};

}  // namespace

std::unique_ptr<AnswerForm> chat_form(ChatFrame frame, bool include_usage) {
  return std::make_unique<ChatForm>(std::move(frame), include_usage);
}

}  // namespace saccade::transport
