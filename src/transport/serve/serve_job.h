#pragma once
// One request that needs the models: admitted, queued, worked on, answered; or ended early because
// its client left, its deadline passed or its reader was too slow. Exactly one reply goes out.
// Threads: submit on any; work() on a thread of the queue; cancel() from any.
#include <atomic>
#include <memory>
#include <string>

#include "core/clock.h"
#include "transport/api_error.h"
#include "transport/http_message.h"
#include "transport/serve/request_queue.h"
#include "transport/serve/serve_metrics.h"

namespace saccade::transport {

class ServeJob : public std::enable_shared_from_this<ServeJob> {
 public:
  // What serves every job; outlives them.
  struct House {
    const core::Clock& clock;
    RequestQueue& queue;
    ServeMetrics& metrics;
  };
  struct Caller {
    ExchangePtr exchange;
    std::string tenant, route, request_id;
    core::SteadyTime arrived;
    std::int64_t deadline_ms = 0;                // after the arrival; 0 = none
    std::shared_ptr<const void> body_hold = {};  // see HttpRequest
    HttpHeaders headers = {};                    // of the reply
  };
  ServeJob(House house, Caller caller) : house_(house), caller_(std::move(caller)) {}
  virtual ~ServeJob() = default;
  ServeJob(const ServeJob&) = delete;
  ServeJob& operator=(const ServeJob&) = delete;

  // Queues it, or refuses at once.
  void submit();

 protected:
  enum class Why { kNone, kGone, kDeadline, kSlowReader };

  // Does the work and replies. Not called for a job that was cancelled while it waited.
  virtual void work() = 0;
  // It was cancelled while it ran; may come from any thread.
  virtual void on_cancel() {}
  // After a stream has begun an error can only be told inside it.
  virtual void fail_in_stream(const ApiError&) {}

  void cancel(Why why);
  Why cancelled() const { return why_; }
  const std::atomic<bool>& stop_flag() const { return stop_; }
  // The error of a cancelled job.
  ApiError cancel_error() const;

  void succeed(HttpReply reply);
  void fail(const ApiError& error);
  HttpReply with_headers(HttpReply reply) const;

  const House house_;
  const Caller caller_;

 private:
  void run();

  std::atomic<bool> stop_{false}, running_{false}, told_{false};
  std::atomic<Why> why_{Why::kNone};
  std::atomic<std::int64_t> cancelled_at_us_{0};
  std::atomic<std::uint64_t> ticket_{0};
};

}  // namespace saccade::transport
