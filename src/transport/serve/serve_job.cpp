#include "transport/serve/serve_job.h"

#include <utility>

namespace saccade::transport {

void ServeJob::submit() {
  const auto self = shared_from_this();
  const std::weak_ptr<ServeJob> weak = self;
  caller_.exchange->on_gone([weak] {
    if (const auto job = weak.lock()) job->cancel(Why::kGone);
  });
  if (caller_.deadline_ms > 0) {
    const double spent = core::ms_between(caller_.arrived, house_.clock.now());
    const auto left = static_cast<std::int64_t>(static_cast<double>(caller_.deadline_ms) - spent);
    if (left <= 0) {
      why_ = Why::kDeadline;
      return fail(cancel_error());
    }
    caller_.exchange->after_ms(left, [weak] {
      if (const auto job = weak.lock()) job->cancel(Why::kDeadline);
    });
  }
  const auto ticket = house_.queue.submit(caller_.tenant, [self] { self->run(); });
  if (ticket) {
    ticket_ = *ticket;
    if (stop_) house_.queue.forget(*ticket);
    return;
  }
  ApiError error = api_error(ticket.error());
  error.code = error.status == 429 ? "queue_full" : "shutting_down";
  error.retry_after_s = house_.queue.retry_after_s();
  fail(error);
}

void ServeJob::run() {
  running_ = true;
  const core::SteadyTime now = house_.clock.now();
  house_.metrics.queue_wait.observe(core::ms_between(caller_.arrived, now) / 1e3);
  if (!stop_) work();
  const core::SteadyTime end = house_.clock.now();
  house_.metrics.duration.observe(core::ms_between(caller_.arrived, end) / 1e3, {caller_.route});
  if (stop_) {
    house_.metrics.cancel_to_free.observe(
        core::ms_between(core::SteadyTime{cancelled_at_us_}, end) / 1e3);
  }
}

void ServeJob::cancel(Why why) {
  Why none = Why::kNone;
  if (!why_.compare_exchange_strong(none, why)) return;
  cancelled_at_us_ = house_.clock.now().us;
  stop_ = true;
  if (running_) {
    on_cancel();
  } else if (const std::uint64_t ticket = ticket_) {
    house_.queue.forget(ticket);
  }
  // Who is too late must not wait for the step that is under way.
  if (why == Why::kDeadline) fail(cancel_error());
  if (why == Why::kGone) house_.metrics.refused.add({"client_gone"});
}

ApiError ServeJob::cancel_error() const {
  switch (why_.load()) {
    case Why::kDeadline:
      return {.status = 504,
              .message = "the deadline of " + std::to_string(caller_.deadline_ms) +
                         " ms passed before the answer was complete",
              .code = "deadline_exceeded"};
    case Why::kSlowReader:
      return {
          .status = 499, .message = "the answer was taken too slowly", .code = "reader_too_slow"};
    default:
      return {.status = 499, .message = "the client went away", .code = "client_gone"};
  }
}

HttpReply ServeJob::with_headers(HttpReply reply) const {
  for (const auto& header : caller_.headers) reply.headers.push_back(header);
  return reply;
}

void ServeJob::succeed(HttpReply reply) {
  if (told_.exchange(true)) return;
  house_.metrics.requests.add({caller_.route, std::to_string(reply.status)});
  caller_.exchange->reply(with_headers(std::move(reply)));
}

void ServeJob::fail(const ApiError& error) {
  if (told_.exchange(true)) return;
  if (caller_.exchange->reply(with_headers(to_reply(error)))) {
    house_.metrics.requests.add({caller_.route, std::to_string(error.status)});
    house_.metrics.refused.add({error.code});
  } else {
    fail_in_stream(error);
  }
}

}  // namespace saccade::transport
