#include "transport/serve/answer_job.h"

#include <utility>

namespace saccade::transport {

AnswerJob::AnswerJob(House house, Caller caller, Options options)
    : ServeJob(house, std::move(caller)), options_(std::move(options)) {
  options_.question.partials = options_.stream;
  options_.question.stop = &stop_flag();
}

void AnswerJob::open_stream() {
  if (!options_.stream) return;
  caller_.exchange->stream({.head = with_headers(sse_head()),
                            .source = feed_,
                            .ping = std::string(kSsePing),
                            .wait_for_first = true});
}

void AnswerJob::work() {
  std::string fault;
  const core::Status status = options_.ask(
      options_.question,
      {.sink = *this, .clock = house_.clock, .rng = options_.rng, .watcher = this}, fault);
  if (cancelled() != Why::kNone) {
    house_.metrics.finished.add({"cancelled"});
    return fail(cancel_error());
  }
  if (status) return complete();
  house_.metrics.finished.add({"error"});
  fail(explain(status.error(), fault));
}

void AnswerJob::on_prompt(const session::PromptSize& size) { prompt_ = size; }

void AnswerJob::on_answer(int number) {
  if (number > 0) end_choice();
  choices_.emplace_back().logprobs = options_.logprobs;
  sent_bytes_ = 0;
  role_sent_ = ended_ = false;
}

bool AnswerJob::on_token(const decode::Token& token) {
  if (token.finish == decode::FinishReason::kNone) note_token(token);
  if (options_.stream && !std::exchange(role_sent_, true)) {
    send(options_.form->begin(choice()));
  }
  // Whoever ends an answer but the model or a stop string does it for its length.
  choices_.back().finish = token.finish == decode::FinishReason::kStop ? "stop" : "length";
  return cancelled() == Why::kNone;
}

void AnswerJob::note_token(const decode::Token& token) {
  const core::SteadyTime now = house_.clock.now();
  if (usage_.answer_tokens++ == 0) {
    house_.metrics.first_token.observe(core::ms_between(caller_.arrived, now) / 1e3);
  } else {
    house_.metrics.next_token.observe(core::ms_between(last_token_, now) / 1e3);
  }
  last_token_ = now;
  if (!options_.logprobs) return;
  TokenInfo& info = choices_.back().tokens.emplace_back();
  info.bytes = token.bytes;
  info.logprob = token.logprob;
  for (const auto& other : token.alternatives) info.top.push_back({other.bytes, other.logprob});
}

void AnswerJob::on_event(const emit::Event& event) {
  if (event.kind != emit::EventKind::kAnswer || choices_.empty()) return;
  ChatChoice& choice = choices_.back();
  if (!options_.stream) {
    choice.text = event.text;
    return;
  }
  if (event.text.size() <= sent_bytes_) return;
  choice.text = event.text.substr(sent_bytes_);
  sent_bytes_ = event.text.size();
  send(options_.form->piece(this->choice(), choice));
  choice.tokens.clear();
}

void AnswerJob::end_choice() {
  if (std::exchange(ended_, true)) return;
  house_.metrics.finished.add({choices_.back().finish});
  if (options_.stream) send(options_.form->end(choice(), choices_.back().finish));
}

void AnswerJob::complete() {
  end_choice();
  usage_.prompt_tokens = prompt_.tokens;
  usage_.visual_tokens = prompt_.visual_tokens;
  house_.metrics.prompt_tokens.add({}, usage_.prompt_tokens);
  house_.metrics.visual_tokens.add({}, usage_.visual_tokens);
  house_.metrics.answer_tokens.add({}, usage_.answer_tokens);
  if (!options_.stream) {
    return succeed({.body = options_.form->whole(choices_, usage_)});
  }
  send(options_.form->finish(usage_));
  if (cancelled() != Why::kNone) return fail(cancel_error());
  house_.metrics.requests.add({caller_.route, "200"});
  feed_->finish();
  caller_.exchange->wake();
}

void AnswerJob::send(const SseEvents& events) {
  for (const SseEvent& event : events) {
    if (!feed_->write(event)) cancel(Why::kSlowReader);
  }
  caller_.exchange->wake();
}

void AnswerJob::fail_in_stream(const ApiError& error) {
  if (!options_.stream) return;
  house_.metrics.requests.add({caller_.route, "200"});
  house_.metrics.refused.add({error.code});
  // Without room the reader is too slow to be told.
  (void)feed_->write(options_.form->failed(error));
  feed_->finish();
  caller_.exchange->wake();
}

ApiError AnswerJob::explain(const core::Error& error, const std::string& fault) const {
  ApiError out = api_error(error);
  out.param = fault;
  const bool overflow = error.code == core::ErrorCode::kExhausted && prompt_.context_tokens > 0 &&
                        prompt_.tokens >= prompt_.context_tokens;
  if (overflow) {
    out.status = 400;
    out.code = "exceed_context_size_error";
    out.extra = "\"n_prompt_tokens\":" + std::to_string(prompt_.tokens) +
                ",\"n_ctx\":" + std::to_string(prompt_.context_tokens);
  } else if (error.code == core::ErrorCode::kExhausted) {
    out.status = 400;
  }
  return out;
}

}  // namespace saccade::transport
