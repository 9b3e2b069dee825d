#pragma once
// The parent's half of a source: starts decode workers, checks what they say, and keeps the source
// going. No thread of its own: the thread in next() does everything, so nothing runs ahead of it.
// What happens when a worker is lost:
//   recorded   it is started again and what was given already is skipped; after kWorkerKillsMax
//              deaths on the same input the input is quarantined: kMediaUnusable.
//   live       it is started again after a short wait (backoff.h), as a new epoch.
// A live source that did not come up once within `connect_limit` is unreachable, whether it refuses
// or says nothing; once it was up it is tried for ever. Refused credentials, certificates that are
// not trusted and unknown codecs end it at once, and so do things that are no media, unless it was
// up before.
// A client that pushes is live too, but its silence only makes it `stale`: nobody can be called
// again. It ends when the client says so, or after kPushGraceUs without one (kSourceUnreachable).
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "ingest/backoff.h"
#include "ingest/feed_push.h"
#include "ingest/ingest.h"
#include "ingest/pace.h"
#include "ingest/resolve_input.h"
#include "ingest/shared_slots.h"
#include "ingest/spawn_worker.h"
#include "ingest/timeline.h"
#include "ingest/watchdog.h"
#include "ingest/worker_protocol.h"

namespace saccade::ingest {

class SourceProcess final : public Source {
 public:
  // `wake` is an eventfd.
  struct Parts {
    SourceOptions options;
    ResolvedInput input;
    Fd wake;
  };
  SourceProcess(Parts parts, const core::Clock& clock, core::Rng rng);
  ~SourceProcess() override;

  // The first worker. Errors: kInternal.
  core::Status start();

  core::Result<SourceItem> next(std::chrono::milliseconds wait) override;
  void set_key_pictures_only(bool only) override;
  void close() override;
  bool live() const override { return input_.kind != SourceKind::kRecorded; }
  bool paced() const override { return live() || options_.realtime; }

  // The process that decodes now, for tests that harm it; -1 when there is none.
  pid_t worker_pid() const { return worker_ ? worker_->process->pid() : -1; }

 private:
  // One worker and what belongs to its life.
  struct Worker {
    std::unique_ptr<WorkerProcess> process;
    SlotLender lender;
    bool hello = false, info = false;
    core::SteadyTime started;
  };
  enum class Waited { kMessage, kWoken, kNothing };

  // A step of work, or a wait until `deadline` at most. False when the deadline came in vain.
  bool step(core::SteadyTime deadline);
  Waited wait_until(core::SteadyTime until) const;
  core::SteadyTime next_check(core::SteadyTime now) const;

  core::Status start_worker();
  void drop_worker();
  void tell_effort();
  bool serve_client(core::SteadyTime now);
  void receive();
  void handle(const SandboxReport& report);
  void handle(const SourceInfo& info);
  void handle(const SlotsNeeded& needed);
  void handle(FrameSent& sent);
  void handle(const Loss& loss);
  void handle(const PushTaken&);
  void handle(const RunEnded&);
  void handle(const core::Error& error);
  void give(Frame frame);

  void check_live_health(core::SteadyTime now);
  void check_recorded_progress(core::SteadyTime now);
  bool waiting_for_others() const;

  void distrust(const std::string& why);
  void worker_died(const std::string& how);
  void live_lost(const core::Error& why);
  void fail(core::Error error);
  void finish();
  void set_state(SourceState state, const std::string& reason);

  const SourceOptions options_;
  const ResolvedInput input_;
  const core::Clock& clock_;
  const Fd wake_;
  std::atomic<bool> closed_{false};

  // Everything below belongs to the thread in next().
  std::unique_ptr<Worker> worker_;
  std::optional<PushFeed> feed_;  // of a client that pushes
  Backoff backoff_;
  Watchdog watchdog_;
  Timeline timeline_;
  std::optional<Pace> pace_;
  std::deque<SourceItem> ready_;  // at most a few: next() takes before it works on
  std::optional<core::Error> ended_;
  std::optional<SourceInfo> info_;
  std::optional<SourceState> state_;
  std::string state_reason_;
  core::SteadyTime first_try_, retry_at_;
  bool key_pictures_only_ = false;
  bool was_up_ = false;
  int attempts_ = 0;       // that failed
  bool run_over_ = false;  // no further worker; what is pending is still given
  int kills_ = 0;          // of workers, on this recorded input
  core::SteadyTime progress_at_;
  std::uint64_t progress_mark_ = 0;
};

}  // namespace saccade::ingest
