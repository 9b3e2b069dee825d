#pragma once
// One live stream of the server: a session on a thread of its own, its events in a ring, its state
// for whoever asks.
// Threads: any; the session's own run the session.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/rng.h"
#include "session/question.h"
#include "session/shared_models.h"
#include "transport/serve/event_ring.h"
#include "transport/serve/memory_file.h"
#include "transport/serve/push_outcomes.h"
#include "transport/serve/serve_metrics.h"

namespace saccade::transport {

class LiveStream final : private emit::EventSink {
 public:
  struct Options {
    std::string id, tenant;
    std::string shown_source;  // without credentials
    session::SessionOptions session;
    std::shared_ptr<MemoryFile> file;  // what session.source names, when it is a file
    // Clients push into it; start() then makes the port and the outcomes.
    bool pushed = false;
    std::shared_ptr<PushOutcomes> outcomes = {};
    core::Rng rng{0};
  };
  // Opens the session and starts it. Errors: those of SharedModels::lend and Session::open.
  static core::Result<std::shared_ptr<LiveStream>> start(Options options,
                                                         session::SharedModels& models,
                                                         const core::Clock& clock,
                                                         ServeMetrics& metrics);
  ~LiveStream() override;

  const std::string& id() const { return options_.id; }
  const std::string& tenant() const { return options_.tenant; }
  // "connecting", "up", "stale", "failed", "ended"
  std::string state() const;
  bool ended() const { return ended_; }
  core::SteadyTime ended_at() const;
  std::string to_json() const;
  const std::shared_ptr<EventRing>& ring() const { return ring_; }
  // Null unless clients push into it.
  const std::shared_ptr<ingest::PushPort>& port() const { return options_.session.source.push; }
  const std::shared_ptr<PushOutcomes>& outcomes() const { return options_.outcomes; }
  // Counts its sockets.
  const std::shared_ptr<std::atomic<std::size_t>>& sockets() const { return sockets_; }

  // What the stream showed last.
  struct Picture {
    session::ShownPicturePtr shown;  // null: nothing yet
    std::string jpeg;
  };
  // Encodes it, once for all who ask: some milliseconds. Errors: those of jpeg_of.
  core::Result<Picture> picture() const;

  // As they were asked for last.
  core::Knobs knobs() const;
  session::Governing governing() const;
  core::Status steer(session::Steering steering);
  core::Status ask(const session::QuestionOptions& options, const session::SessionModels& models,
                   const session::QuestionContext& context) {
    return session_->ask(options, models, context);
  }
  // Ends it; its last events still go out. Does not wait.
  void stop() { session_->stop(); }

 private:
  LiveStream(Options options, session::SharedModels::Loan loan, const core::Clock& clock,
             ServeMetrics& metrics);
  void on_event(const emit::Event& event) override;
  void run();
  void tell_end(const core::Status& outcome);
  void count(const emit::Event& event);

  const Options options_;
  const session::SharedModels::Loan loan_;
  const core::Clock& clock_;
  ServeMetrics& metrics_;
  const std::shared_ptr<EventRing> ring_;
  const std::int64_t created_s_;
  const std::shared_ptr<std::atomic<std::size_t>> sockets_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  std::unique_ptr<session::Session> session_;
  std::atomic<bool> ended_{false};

  mutable std::mutex mutex_;  // guards everything below
  std::string state_ = "connecting", reason_;
  std::int64_t since_s_;  // of the state, seconds since 1970
  core::SteadyTime ended_at_;
  core::Knobs knobs_;
  std::vector<attend::StandingPrompt> prompts_;
  session::Governing governing_;
  mutable std::mutex picture_mutex_;  // guards the next one, held while encoding
  mutable Picture picture_;
  std::thread thread_;
};

}  // namespace saccade::transport
