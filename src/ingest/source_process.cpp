#include "ingest/source_process.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ingest/allow_list.h"

namespace saccade::ingest {
namespace {

using core::ErrorCode;
using core::SteadyTime;

// A decoder of recorded bytes that neither says nor reads anything for this many watchdogs hangs.
constexpr int kHangWatchdogs = 5;
// How much later than its own deadline a worker may report that nothing answers.
constexpr std::int64_t kOpenGraceUs = 2'000'000;
// Playlists come in segments of up to ten seconds. Cameras that push pictures over http do not.
constexpr std::int64_t kPulledSilenceUs = 20'000'000;

std::int64_t us_of(std::chrono::milliseconds ms) { return std::chrono::microseconds(ms).count(); }

// A rate below one picture per watchdog must not look like silence.
std::int64_t silence_limit(const SourceOptions& options, SourceKind kind,
                           const std::string& container) {
  std::int64_t limit = us_of(options.watchdog);
  if (options.fps > 0) limit = std::max(limit, static_cast<std::int64_t>(2e6 / options.fps));
  const bool segments = kind == SourceKind::kPulled && !is_unstamped(container);
  return segments ? std::max(limit, kPulledSilenceUs) : limit;
}

wire::Open open_message(const SourceOptions& options, const ResolvedInput& input) {
  wire::Open open;
  const bool recorded = input.kind == SourceKind::kRecorded;
  open.fps = options.fps;
  open.open_timeout_ms = options.open_timeout.count();
  open.animation_frames_max = options.animation_frames_max;
  open.policy = static_cast<std::uint32_t>(input.policy);
  open.live = !recorded;
  open.waits = input.kind == SourceKind::kRecorded || input.kind == SourceKind::kPulled;
  open.push = input.kind == SourceKind::kClient;
  open.udp = options.udp;
  open.want_video = options.want_video;
  open.want_audio = options.want_audio;
  open.scene_cuts = options.scene_cuts;
  open.matte = options.matte;
  open.tls_insecure = options.tls_insecure;
  open.has_fd = open.push != 0 || static_cast<bool>(recorded ? input.file : input.certificates);
  if (!recorded) open.url = to_text<sizeof(open.url)>(options.url);
  open.name = to_text<sizeof(open.name)>(input.name);
  return open;
}

// Trying again cannot help.
bool is_final(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnauthorized:
    case ErrorCode::kUnsupported:
    case ErrorCode::kMediaUnusable:
    case ErrorCode::kUsage:
      return true;
    default:
      return false;
  }
}

}  // namespace

core::Result<std::unique_ptr<Source>> Source::open(SourceOptions options, const core::Clock& clock,
                                                   core::Rng rng) {
  auto input = resolve_input(options);
  if (!input) return input.error();
  Fd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) {
    return core::error(ErrorCode::kExhausted, "no file descriptor is left for another source",
                       "raise `ulimit -n`");
  }
  auto source = std::make_unique<SourceProcess>(
      SourceProcess::Parts{std::move(options), std::move(*input), std::move(wake)}, clock, rng);
  if (auto status = source->start(); !status) return status.error();
  return std::unique_ptr<Source>(std::move(source));
}

SourceProcess::SourceProcess(Parts parts, const core::Clock& clock, core::Rng rng)
    : options_(std::move(parts.options)),
      input_(std::move(parts.input)),
      clock_(clock),
      wake_(std::move(parts.wake)),
      backoff_(rng),
      watchdog_(us_of(options_.watchdog)),
      first_try_(clock.now()) {
  if (options_.realtime || input_.kind == SourceKind::kPulled) pace_.emplace();
  if (input_.kind != SourceKind::kClient) return;
  feed_.emplace(options_.push);
  options_.push->wake_with([this] { eventfd_write(wake_.get(), 1); });
}

SourceProcess::~SourceProcess() {
  if (feed_) options_.push->wake_with(nullptr);
}

core::Status SourceProcess::start() {
  if (live()) set_state(SourceState::kConnecting, {});
  return start_worker();
}

void SourceProcess::set_key_pictures_only(bool only) {
  if (std::exchange(key_pictures_only_, only) == only) return;
  tell_effort();
}

void SourceProcess::tell_effort() {
  if (!worker_) return;
  wire::Effort effort;
  effort.key_pictures_only = key_pictures_only_ ? 1 : 0;
  worker_->process->control()->send(bytes_of(effort));
}

void SourceProcess::close() {
  closed_ = true;
  eventfd_write(wake_.get(), 1);
}

core::Result<SourceItem> SourceProcess::next(std::chrono::milliseconds wait) {
  const SteadyTime deadline{clock_.now().us + std::max<std::int64_t>(us_of(wait), 0)};
  for (bool in_time = true;; in_time = step(deadline)) {
    if (closed_) {
      drop_worker();
      return core::error(ErrorCode::kClosed, input_.name + ": closed");
    }
    if (pace_) {
      if (auto frame = pace_->take(clock_.now())) return SourceItem(std::move(*frame));
    }
    if (!ready_.empty()) {
      SourceItem item = std::move(ready_.front());
      ready_.pop_front();
      return item;
    }
    if (ended_) return *ended_;
    if (!in_time) return core::error(ErrorCode::kTimeout, input_.name + ": nothing yet");
  }
}

bool SourceProcess::step(SteadyTime deadline) {
  const SteadyTime now = clock_.now();
  if (run_over_ && (!pace_ || pace_->empty())) {
    finish();
    return true;
  }
  if (!worker_ && !run_over_ && now >= retry_at_) {
    if (auto status = start_worker(); !status) fail(status.error());
    return true;
  }
  if (feed_ && serve_client(now)) return true;
  const SteadyTime until = std::min(deadline, next_check(now));
  switch (wait_until(until)) {
    case Waited::kMessage:
      receive();
      return true;
    case Waited::kWoken: {
      eventfd_t count = 0;
      eventfd_read(wake_.get(), &count);
      return true;
    }
    case Waited::kNothing:
      break;
  }
  if (worker_ && live()) check_live_health(clock_.now());
  if (worker_ && !live()) check_recorded_progress(clock_.now());
  return until < deadline || !ready_.empty() || ended_;
}

// What the client has sent goes to the worker. True when there is something to give.
bool SourceProcess::serve_client(SteadyTime now) {
  for (Loss& loss : feed_->port().take_losses()) ready_.emplace_back(loss);
  if (worker_ && worker_->info) feed_->pump(now);
  if (feed_->hangs(now)) {
    worker_->process->end();
    worker_died("it hung for " + std::to_string(core::limits::kPushDecodeUsMax / 1'000'000) + " s");
  }
  if (feed_->port().abandoned()) {
    fail(core::error(ErrorCode::kSourceUnreachable,
                     input_.name + ": no client for " +
                         std::to_string(core::limits::kPushGraceUs / 1'000'000) + " s",
                     "connect again sooner"));
  }
  return !ready_.empty() || ended_;
}

// When something must be looked at even if nobody says anything.
SteadyTime SourceProcess::next_check(SteadyTime now) const {
  SteadyTime at{now.us + us_of(options_.watchdog)};
  if (pace_) at = std::min(at, pace_->next_due().value_or(at));
  if (!worker_) return run_over_ ? at : std::min(at, retry_at_);
  if (!live()) return at;
  if (worker_->info && feed_ && state_ != SourceState::kUp) return at;
  if (worker_->info) return std::min(at, watchdog_.next_check(now));
  return std::min(at,
                  SteadyTime{worker_->started.us + us_of(options_.open_timeout) + kOpenGraceUs});
}

SourceProcess::Waited SourceProcess::wait_until(SteadyTime until) const {
  const bool listen = worker_ && !(pace_ && pace_->full());
  std::array<pollfd, 2> fds = {
      {{wake_.get(), POLLIN, 0}, {listen ? worker_->process->control()->fd() : -1, POLLIN, 0}}};
  const std::int64_t us = std::max<std::int64_t>(core::us_between(clock_.now(), until), 0);
  const timespec timeout{us / 1'000'000, us % 1'000'000 * 1000};
  if (ppoll(fds.data(), fds.size(), &timeout, nullptr) <= 0) return Waited::kNothing;
  return fds[1].revents != 0 ? Waited::kMessage : Waited::kWoken;
}

core::Status SourceProcess::start_worker() {
  auto process = WorkerProcess::start(options_.worker_path);
  if (!process) return process.error();
  const auto control = (*process)->control();
  const wire::Open open = open_message(options_, input_);
  const Fd pair = feed_ ? feed_->connect() : Fd();
  if (feed_ && !pair) return core::error(ErrorCode::kExhausted, "no file descriptor is left");
  const Fd& recorded = live() ? input_.certificates : input_.file;
  // A worker that is gone already is noticed when it is listened to.
  control->send(bytes_of(open), feed_ ? pair.get() : recorded.get());
  const SteadyTime now = clock_.now();
  worker_ =
      std::make_unique<Worker>(Worker{std::move(*process), SlotLender(control), false, false, now});
  progress_at_ = now;
  progress_mark_ = 0;
  if (key_pictures_only_) tell_effort();
  if (live()) timeline_.begin_reconnect();
  return {};
}

void SourceProcess::drop_worker() {
  worker_.reset();
  if (!feed_ || !feed_->disconnect()) return;
  ready_.emplace_back(Loss{LossKind::kCorrupt, timeline_.last(), 1});
}

void SourceProcess::receive() {
  alignas(8) std::array<std::byte, kMessageBytesMax> buffer;
  const Received received = receive_packet(worker_->process->control()->fd(), buffer,
                                           Waiting::kDontBlock, Descriptors::kRefuse);
  if (received.would_block) return;
  if (received.bytes == 0) return worker_died(worker_->process->end());
  auto message = parse_worker_message(std::span<const std::byte>(buffer).first(received.bytes));
  if (!message) return distrust("a malformed message");
  const bool hello = std::holds_alternative<SandboxReport>(*message);
  if (hello == worker_->hello) return distrust("a message out of turn");
  progress_at_ = clock_.now();
  std::visit([this](auto& what) { handle(what); }, *message);
}

void SourceProcess::handle(const SandboxReport& /*report*/) { worker_->hello = true; }

void SourceProcess::handle(const SourceInfo& info) {
  if (worker_->info) return distrust("a second header");
  worker_->info = true;
  watchdog_ = Watchdog(silence_limit(options_, input_.kind, info.container));
  watchdog_.start(clock_.now());
  SourceInfo mine = info;
  mine.live = live();
  const bool known = info_ && info_->width == mine.width && info_->height == mine.height &&
                     info_->has_video == mine.has_video && info_->has_audio == mine.has_audio &&
                     info_->video_codec == mine.video_codec;
  info_ = std::move(mine);
  if (!known) ready_.emplace_back(*info_);
}

void SourceProcess::handle(const SlotsNeeded& needed) {
  if (auto status = worker_->lender.grant(needed.width, needed.height); !status) {
    const core::Error& why = status.error();
    fail(core::error(why.code, input_.name + ": " + why.message, why.hint));
  }
}

void SourceProcess::handle(FrameSent& sent) {
  if (!worker_->info) return distrust("a frame before the header");
  const SteadyTime now = clock_.now();
  Frame frame;
  if (const auto* picture = std::get_if<PictureSent>(&sent.payload)) {
    auto pixels = worker_->lender.take(*picture);
    if (!pixels) return distrust("a picture that is not there");
    if (feed_) frame.receipt = feed_->claim();
    if (feed_ && !frame.receipt) return distrust("a picture that nobody pushed");
    if (input_.kind == SourceKind::kPushed) {
      watchdog_.saw_picture(now, sign_picture(pixels->view()));
    }
    frame.payload = Picture{std::move(*pixels), picture->scene_cut, picture->interlaced};
  } else {
    frame.payload = std::move(std::get<Sound>(sent.payload));
  }
  if (input_.kind != SourceKind::kPushed || !info_->has_video) watchdog_.saw_life(now);
  frame.time = sent.time;
  frame.duration = sent.duration;
  frame.wall = sent.wall;
  frame.captured = SteadyTime{std::clamp(sent.captured_us, worker_->started.us, now.us)};
  switch (timeline_.place(frame, now)) {
    case Timeline::Verdict::kGive:
      return give(std::move(frame));
    case Timeline::Verdict::kGivenBefore:
      return;
    case Timeline::Verdict::kLate:
      ready_.emplace_back(Loss{LossKind::kLate, timeline_.last(), 1});
      return;
  }
}

void SourceProcess::give(Frame frame) {
  const bool watched = frame.picture() != nullptr || !info_->has_video || feed_;
  if (live() && (watched || state_ != SourceState::kStale)) {
    if (watchdog_.health(clock_.now()) == Health::kFine) {
      was_up_ = true;
      backoff_.up();
      set_state(SourceState::kUp, {});
    }
  } else if (state_ == SourceState::kConnecting && !timeline_.replaying()) {
    set_state(SourceState::kUp, {});
  }
  if (pace_) return pace_->put(std::move(frame), clock_.now());
  ready_.emplace_back(std::move(frame));
}

void SourceProcess::handle(const Loss& loss) {
  if (timeline_.replaying()) return;
  if (loss.kind == LossKind::kRate) watchdog_.saw_life(clock_.now());
  if (const auto receipt = feed_ ? feed_->claim() : nullptr) {
    receipt->settle(loss.kind == LossKind::kRate   ? PushEnd::kRate
                    : loss.kind == LossKind::kLate ? PushEnd::kLate
                                                   : PushEnd::kCorrupt);
  }
  ready_.emplace_back(Loss{loss.kind, timeline_.map(loss.time), loss.count});
}

void SourceProcess::handle(const PushTaken& /*taken*/) {
  if (!feed_ || !feed_->working()) return distrust("an end of work it did not have");
  feed_->taken();
}

void SourceProcess::handle(const RunEnded& /*ended*/) {
  // A camera has no end; a file behind an address has one.
  if (input_.kind == SourceKind::kPushed) {
    return live_lost(
        core::error(ErrorCode::kSourceUnreachable, input_.name + ": the sender ended"));
  }
  if (info_) timeline_.note_end(info_->duration);
  drop_worker();
  kills_ = 0;
  if (feed_ && !feed_->port().finished()) {
    return live_lost(
        core::error(ErrorCode::kSourceUnreachable, input_.name + ": its decoder ended"));
  }
  if (options_.loop) {
    timeline_.begin_loop();
  } else {
    run_over_ = true;
  }
}

void SourceProcess::handle(const core::Error& error) {
  // A camera that goes down or comes up may send half a header: it is no judgement once it worked.
  const bool half = was_up_ && error.code == ErrorCode::kMediaUnusable;
  if (live() && (half || !is_final(error.code))) return live_lost(error);
  fail(error);
}

void SourceProcess::check_live_health(SteadyTime now) {
  if (!worker_->info) {
    const std::int64_t late = core::us_between(worker_->started, now);
    if (late < us_of(options_.open_timeout) + kOpenGraceUs) return;
    return live_lost(
        core::error(ErrorCode::kSourceUnreachable, input_.name + ": no answer in time"));
  }
  if (pace_ && !pace_->empty()) return;  // it is us who wait
  if (feed_ && state_ != SourceState::kUp) return;
  switch (watchdog_.health(now)) {
    case Health::kFine:
      return;
    case Health::kSilent:
      return set_state(SourceState::kStale,
                       feed_ ? "the client sends nothing" : "no picture for too long");
    case Health::kFrozen:
      return set_state(SourceState::kStale, "the picture is frozen");
    case Health::kDead:
      // Nobody looked in time: the fault is still told before it is acted upon.
      if (state_ == SourceState::kUp) return set_state(SourceState::kStale, "silent or frozen");
      return live_lost(core::error(ErrorCode::kSourceUnreachable,
                                   input_.name + ": silent or frozen, connecting again"));
  }
}

// Whether the worker has a good reason to say nothing.
bool SourceProcess::waiting_for_others() const {
  if (worker_->lender.all_out() || (pace_ && pace_->full())) return true;
  int waiting_bytes = 0;
  return !input_.regular && ioctl(input_.file.get(), FIONREAD, &waiting_bytes) == 0 &&
         waiting_bytes == 0;
}

void SourceProcess::check_recorded_progress(SteadyTime now) {
  const std::uint64_t mark = worker_->process->bytes_read().value_or(0);
  if (mark != progress_mark_ || waiting_for_others()) {
    progress_mark_ = mark;
    progress_at_ = now;
    return;
  }
  if (core::us_between(progress_at_, now) < kHangWatchdogs * us_of(options_.watchdog)) return;
  worker_->process->end();
  worker_died("no progress for " + std::to_string(kHangWatchdogs) + " watchdogs");
}

// The worker broke the protocol: it is no longer ours.
void SourceProcess::distrust(const std::string& why) {
  worker_->process->end();
  kills_ = core::limits::kWorkerKillsMax;
  fail(core::error(ErrorCode::kMediaUnusable, input_.name + ": its decoder sent " + why,
                   "do not trust this input"));
}

void SourceProcess::worker_died(const std::string& how) {
  const bool started = worker_->hello;
  drop_worker();
  if (!started && ++kills_ >= core::limits::kWorkerKillsMax) {
    return fail(core::error(ErrorCode::kInternal, "the decode worker does not start: " + how,
                            "run `saccade doctor`"));
  }
  const std::string what = input_.name + ": the decoder crashed on it: " + how;
  if (live()) return live_lost(core::error(ErrorCode::kSourceUnreachable, what));
  if (started) ++kills_;
  if (kills_ >= core::limits::kWorkerKillsMax) {
    return fail(core::error(ErrorCode::kMediaUnusable, what,
                            "check the file with another player, or convert it"));
  }
  if (!input_.regular) {
    return fail(core::error(ErrorCode::kMediaUnusable, what,
                            "a pipe cannot be read again: save it to a file and try that"));
  }
  set_state(SourceState::kConnecting, what + "; reading it again");
  timeline_.begin_replay();
}

void SourceProcess::live_lost(const core::Error& why) {
  drop_worker();
  const SteadyTime now = clock_.now();
  ++attempts_;
  const std::int64_t tried_us = core::us_between(first_try_, now);
  const bool limited = !feed_ && options_.connect_limit.count() > 0;
  if (!was_up_ && limited && tried_us >= us_of(options_.connect_limit)) {
    return fail(core::error(ErrorCode::kSourceUnreachable,
                            why.message + " (" + std::to_string(attempts_) + " attempts in " +
                                std::to_string(tried_us / 1'000'000) + " s)",
                            why.hint));
  }
  set_state(SourceState::kConnecting, why.message);
  retry_at_ = SteadyTime{now.us + backoff_.failed(now)};
}

void SourceProcess::fail(core::Error error) {
  drop_worker();
  if (pace_) pace_.emplace();
  if (live()) set_state(SourceState::kFailed, error.message);
  ended_ = std::move(error);
}

void SourceProcess::finish() {
  ready_.emplace_back(EndOfSource{});
  ended_ = core::error(ErrorCode::kClosed, input_.name + ": has ended");
}

// At most one event per change; the first reason of an attempt is worth one more.
void SourceProcess::set_state(SourceState state, const std::string& reason) {
  const bool news = state_reason_.empty() && !reason.empty();
  if (state_ == state && !news) return;
  state_ = state;
  state_reason_ = reason;
  ready_.emplace_back(StateChange{state, reason});
}

}  // namespace saccade::ingest
