#include "ingest/from_push.h"

#include <utility>

#include "core/limits.h"

namespace saccade::ingest {

namespace limits = core::limits;
using core::ErrorCode;

const char* name_of(PushEnd end) {
  switch (end) {
    case PushEnd::kSeen:
      return "seen";
    case PushEnd::kBusy:
      return "busy";
    case PushEnd::kRate:
      return "rate";
    case PushEnd::kLate:
      return "late";
    case PushEnd::kCorrupt:
      return "corrupt";
    case PushEnd::kCredit:
      return "credit";
  }
  return "late";
}

PushReceipt::~PushReceipt() { settle(PushEnd::kLate); }

void PushReceipt::settle(PushEnd end, core::MediaTime time) { port_->settle(seq_, end, time); }

PushPort::PushPort(double fps, std::shared_ptr<Listener> listener, const core::Clock& clock)
    : step_us_(fps > 0 ? static_cast<std::int64_t>(1e6 / fps) : 0),
      listener_(std::move(listener)),
      clock_(clock),
      alone_since_(clock.now()) {}

std::uint64_t PushPort::attach() {
  const std::lock_guard lock(mutex_);
  sender_ = ++senders_;
  listener_->on_change();
  return sender_;
}

void PushPort::detach(std::uint64_t sender) {
  const std::lock_guard lock(mutex_);
  if (sender == 0 || sender != sender_) return;
  sender_ = 0;
  alone_since_ = clock_.now();
}

bool PushPort::sends(std::uint64_t sender) const {
  const std::lock_guard lock(mutex_);
  return sender != 0 && sender == sender_;
}

core::Status PushPort::offer(std::uint64_t sender, PushPacket packet) {
  const std::lock_guard lock(mutex_);
  if (closed_ || finished_) return core::error(ErrorCode::kClosed, "the stream has ended");
  if (sender == 0 || sender != sender_) {
    return core::error(ErrorCode::kClosed, "another client sends to this stream");
  }
  if (packet.seq <= newest_seq_) {
    return core::error(ErrorCode::kUsage, "seq is " + std::to_string(packet.seq) +
                                              "; allowed are more than " +
                                              std::to_string(newest_seq_) + ", the newest");
  }
  if (packet.kind == PushKind::kSound) return offer_sound(std::move(packet));
  offer_picture(std::move(packet));
  return {};
}

core::Status PushPort::offer_sound(PushPacket packet) {
  const std::int64_t room = sound_taken_us_ + limits::kPushSoundUsMax - accepted_.sound_us;
  if (packet.sound_us() > room) {
    return core::error(ErrorCode::kExhausted,
                       "this piece of sound lasts " + std::to_string(packet.sound_us() / 1000) +
                           " ms; the credit is " + std::to_string(room / 1000) + " ms",
                       "send no more sound than was granted");
  }
  newest_seq_ = packet.seq;
  accepted_.sound_us += packet.sound_us();
  sound_.push_back(std::move(packet));
  if (wake_) wake_();
  return {};
}

void PushPort::offer_picture(PushPacket packet) {
  newest_seq_ = packet.seq;
  if (open_.size() >= limits::kPushPicturesOpen) {
    return listener_->on_outcome({packet.seq, PushEnd::kCredit, core::MediaTime::unset()});
  }
  ++accepted_.pictures;
  open_.insert(packet.seq);
  if (too_soon(packet.capture_us)) {
    ++lost_rate_;
    settle_locked(packet.seq, PushEnd::kRate, core::MediaTime::unset());
  } else {
    const std::optional<PushPacket> older = std::exchange(picture_, std::move(packet));
    if (older) {
      ++lost_busy_;
      settle_locked(older->seq, PushEnd::kBusy, core::MediaTime::unset());
    }
  }
  if (wake_) wake_();
}

// One picture per point of a time grid, the first one in reach of it, so that a client whose clock
// trembles still gets the whole rate. A client that jumps begins a new grid.
bool PushPort::too_soon(std::int64_t capture_us) {
  if (step_us_ == 0) return false;
  const bool back = begun_ && capture_us < last_us_;
  begun_ = true;
  last_us_ = capture_us;
  if (!back && capture_us < due_us_ - step_us_ / 2) return true;
  const bool jump = back || capture_us > due_us_ + step_us_;
  due_us_ = (jump ? capture_us : due_us_) + step_us_;
  return false;
}

void PushPort::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  if (wake_) wake_();
}

PushPort::Totals PushPort::granted() const {
  const std::lock_guard lock(mutex_);
  return {settled_ + limits::kPushPicturesOpen, sound_taken_us_ + limits::kPushSoundUsMax};
}

PushPort::Totals PushPort::accepted() const {
  const std::lock_guard lock(mutex_);
  return accepted_;
}

std::uint64_t PushPort::newest_seq() const {
  const std::lock_guard lock(mutex_);
  return newest_seq_;
}

void PushPort::wake_with(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

// Sound first: it waits for nobody, and a picture may still be replaced by a newer one.
std::optional<PushPort::Taken> PushPort::take() {
  const std::lock_guard lock(mutex_);
  if (closed_) return std::nullopt;
  if (!sound_.empty()) {
    Taken taken{std::move(sound_.front()), nullptr};
    sound_.pop_front();
    sound_taken_us_ += taken.packet.sound_us();
    listener_->on_change();
    return taken;
  }
  if (!picture_) return std::nullopt;
  Taken taken{std::move(*std::exchange(picture_, std::nullopt)), nullptr};
  taken.receipt = std::make_shared<PushReceipt>(shared_from_this(), taken.packet.seq);
  return taken;
}

std::vector<Loss> PushPort::take_losses() {
  std::vector<Loss> out;
  const std::lock_guard lock(mutex_);
  if (const auto count = std::exchange(lost_busy_, 0)) {
    out.push_back({LossKind::kBusy, core::MediaTime::unset(), count});
  }
  if (const auto count = std::exchange(lost_rate_, 0)) {
    out.push_back({LossKind::kRate, core::MediaTime::unset(), count});
  }
  return out;
}

bool PushPort::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_ && !picture_ && sound_.empty();
}

bool PushPort::abandoned() const {
  const std::lock_guard lock(mutex_);
  return sender_ == 0 && core::us_between(alone_since_, clock_.now()) >= limits::kPushGraceUs;
}

void PushPort::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wake_ = nullptr;
  picture_.reset();
  sound_.clear();
  const std::set<std::uint64_t> open = open_;
  for (const std::uint64_t seq : open) {
    settle_locked(seq, PushEnd::kLate, core::MediaTime::unset());
  }
}

void PushPort::settle(std::uint64_t seq, PushEnd end, core::MediaTime time) {
  const std::lock_guard lock(mutex_);
  settle_locked(seq, end, time);
}

void PushPort::settle_locked(std::uint64_t seq, PushEnd end, core::MediaTime time) {
  if (open_.erase(seq) == 0) return;
  ++settled_;
  listener_->on_outcome({seq, end, time});
}

}  // namespace saccade::ingest
