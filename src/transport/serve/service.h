#pragma once
// What the routes mean: finds the route, lets the caller in or not, reads the request, hands the
// work to the queue, the streams or the models. docs/serve.md describes all of it for users.
// Threads: check and handle on the I/O thread; large bodies are read on a thread of the service.
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/bounded_queue.h"
#include "core/clock.h"
#include "core/rng.h"
#include "session/question.h"
#include "session/shared_models.h"
#include "transport/access.h"
#include "transport/chat_request.h"
#include "transport/limit_rate.h"
#include "transport/route.h"
#include "transport/serve/answer_job.h"
#include "transport/serve/console_files.h"
#include "transport/serve/request_queue.h"
#include "transport/serve/serve_metrics.h"
#include "transport/serve/stream_registry.h"
#include "transport/stream_request.h"

namespace saccade::transport {

// Bodies up to this size are read where they arrive.
inline constexpr std::size_t kInlineBodyBytesMax = 64 << 10;
inline constexpr std::size_t kBodiesQueuedMax = 256;
inline constexpr std::int64_t kDeadlineMsMax = 86'400'000;

struct ServiceOptions {
  AccessRules access;
  std::string version;                       // of the program
  std::string model;                         // the name clients ask for
  std::string media_path;                    // folder of file:// URLs; empty = none are served
  std::vector<std::string> allowed_sources;  // hosts of live streams; see source_allowed
  RequestQueue::Options queue;
  std::size_t streams_max = 8;
  std::uint64_t seed = 0;  // of everything drawn
  // What a request does not say.
  engine::SamplingOptions sampling;
  core::Knobs knobs;
  session::Governing governing;  // of streams that ask for nothing else
  std::vector<std::string> filter_words;
  bool context_lines = false;            // screen text and speech go into prompts
  double fps = 5;                        // of live streams
  std::span<const ConsoleFile> console;  // empty = no console
};

class Service final : public HttpHandler {
 public:
  Service(ServiceOptions options, session::SharedModels& models, const core::Clock& clock);
  ~Service() override;

  Verdict check(const HttpRequest& head) override;
  void handle(HttpRequest request, ExchangePtr exchange) override;
  HttpReply refuse(int status, const std::string& code, const std::string& message) override;

  // Not ready any more; what waits and runs goes on, streams end, new work is refused. Any thread.
  void begin_drain();
  // For the gauge; may be empty.
  void count_connections(std::function<std::size_t()> count) { connections_ = std::move(count); }

 private:
  // One request that was let in.
  struct Call {
    HttpRequest request;
    ExchangePtr exchange;
    RouteMatch match;
    std::string tenant;
    bool admin = false;
    core::SteadyTime arrived;
    std::int64_t deadline_ms = 0;
  };
  using CallPtr = std::shared_ptr<Call>;

  // service.cpp
  void dispatch(const CallPtr& call);
  void reply(const Call& call, HttpReply reply);
  void fail(const Call& call, const ApiError& error);
  void fail_usage(const Call& call, std::string message, std::string param);
  void fail_field(const Call& call, const core::Error& error, const std::string& fault);
  std::optional<ApiError> check_load(const Route& route) const;
  std::optional<ApiError> check_rate(const Admission& admission);
  ApiError no_such_model() const;
  HttpReply health(bool ready) const;
  std::string model_json() const;
  std::string metrics_text();

  // service_answers.cpp
  void chat(const CallPtr& call);
  void respond(const CallPtr& call);
  void ask_stream(const CallPtr& call);
  void transcribe(const CallPtr& call);
  void tokenize(const CallPtr& call);
  ChatFrame frame_of(const Call& call, const ChatRequest& request) const;
  void submit_answer(const CallPtr& call, const ChatRequest& request, AnswerJob::Options options);
  // Whole conversations; the request's messages are taken.
  void converse(const CallPtr& call, ChatRequest& request, AnswerJob::Options options);
  core::Status answer(std::vector<ChatMessage>& messages, const std::string& tenant,
                      session::QuestionOptions question, const session::QuestionContext& context,
                      std::string& fault);
  session::QuestionOptions question_of(const ChatRequest& request);
  ServeJob::House house() { return {.clock = clock_, .queue = queue_, .metrics = metrics_}; }
  ServeJob::Caller caller_of(const Call& call) const;

  // service_streams.cpp
  void make_stream(const CallPtr& call);
  void list_streams(const CallPtr& call);
  void change_stream(const CallPtr& call);
  void end_stream(const CallPtr& call);
  void follow_stream(const CallPtr& call);
  std::shared_ptr<LiveStream> own_stream(const Call& call);
  core::Result<LiveStream::Options> stream_options(const StreamRequest& request,
                                                   std::string& fault);
  core::Status place_source(const StreamRequest& request, LiveStream::Options& options);

  // service_sockets.cpp
  void open_socket(const CallPtr& call);
  bool check_handshake(const Call& call);
  bool check_sockets(const Call& call, const LiveStream& stream);
  // service_console.cpp
  void show_console(const CallPtr& call);
  void show_picture(const CallPtr& call);
  void send_picture(const Call& call, const LiveStream& stream);

  core::Rng next_rng();

  const ServiceOptions options_;
  session::SharedModels& models_;
  const core::Clock& clock_;
  const std::int64_t started_s_;
  std::atomic<bool> draining_{false};
  std::atomic<std::uint64_t> drawn_{0};
  std::function<std::size_t()> connections_;
  RateLimiter rates_;  // I/O thread
  const std::shared_ptr<std::atomic<std::size_t>> sockets_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  ServeMetrics metrics_;
  RequestQueue queue_;
  StreamRegistry streams_;
  core::BoundedQueue<std::function<void()>> bodies_{kBodiesQueuedMax};
  std::thread body_thread_;
};

}  // namespace saccade::transport
