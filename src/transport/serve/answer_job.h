#pragma once
// A chat completion, a response, or a question to a live stream, on its way to the client: whole or
// as server-sent events. What is asked, of whom, and how it is told is handed in.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emit/emit_types.h"
#include "session/question.h"
#include "transport/answer_form.h"
#include "transport/chat_request.h"
#include "transport/serve/serve_job.h"
#include "transport/serve/text_feed.h"

namespace saccade::transport {

class AnswerJob final : public ServeJob, private emit::EventSink, private session::QuestionWatcher {
 public:
  struct Options {
    std::shared_ptr<AnswerForm> form;
    session::QuestionOptions question;  // sampling, knobs, stops: all but what is asked
    bool stream = false, logprobs = false;
    // Takes media in and answers; `fault` says which field an error is about.
    std::function<core::Status(session::QuestionOptions, session::QuestionContext,
                               std::string& fault)>
        ask;
    core::Rng rng{0};
  };
  AnswerJob(House house, Caller caller, Options options);

  // Call before submit(): a streamed reply is pinged from admission on.
  void open_stream();

 private:
  void work() override;
  void fail_in_stream(const ApiError& error) override;
  void on_event(const emit::Event& event) override;
  void on_prompt(const session::PromptSize& size) override;
  void on_answer(int number) override;
  bool on_token(const decode::Token& token) override;

  void note_token(const decode::Token& token);
  void end_choice();
  void complete();
  void send(const SseEvents& events);
  int choice() const { return static_cast<int>(choices_.size()) - 1; }
  ApiError explain(const core::Error& error, const std::string& fault) const;

  Options options_;
  const std::shared_ptr<TextFeed> feed_ = std::make_shared<TextFeed>();
  session::PromptSize prompt_;
  ChatUsage usage_;
  std::vector<ChatChoice> choices_;  // streamed: only the piece not yet sent
  std::size_t sent_bytes_ = 0;       // of the running choice
  bool role_sent_ = false, ended_ = true;
  core::SteadyTime last_token_;
};

}  // namespace saccade::transport
