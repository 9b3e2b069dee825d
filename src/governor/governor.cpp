#include "governor/governor.h"

namespace saccade::governor {

Governor::Governor(const core::Clock& clock, LadderTiming timing)
    : clock_(clock), control_(timing) {}

core::Result<std::unique_ptr<Governor::Place>> Governor::join(const Terms& terms) {
  const std::lock_guard lock(mutex_);
  const auto admission = control_.join(terms, clock_.now());
  if (!admission) return admission.error();
  return std::make_unique<Place>(*this, *admission);
}

PolicyBookPtr Governor::policies() const {
  const std::lock_guard lock(mutex_);
  return book_;
}

void Governor::set_policies(PolicyBookPtr book) {
  const std::lock_guard lock(mutex_);
  book_ = std::move(book);
  control_.set_policies(*book_);
}

Snapshot Governor::snapshot() const {
  const std::lock_guard lock(mutex_);
  return control_.snapshot();
}

// Under the lock.
void Governor::give_turns() {
  const core::SteadyTime now = clock_.now();
  control_.tick(now);
  bool any = false;
  while (const auto stream = control_.grant(now)) {
    given_.insert(*stream);
    any = true;
  }
  if (any) given_turn_.notify_all();
}

Governor::Place::~Place() { close(); }

std::optional<Governor::Turn> Governor::Place::take_turn() {
  std::unique_lock lock(governor_.mutex_);
  const StreamId stream = admission_.stream;
  if (closed_) return std::nullopt;
  governor_.control_.want(stream);
  governor_.give_turns();
  governor_.given_turn_.wait(lock, [&] { return closed_ || governor_.given_.count(stream) > 0; });
  if (governor_.given_.erase(stream) > 0) return Turn(governor_, stream);
  return std::nullopt;
}

void Governor::Place::close() {
  const std::lock_guard lock(governor_.mutex_);
  if (std::exchange(closed_, true)) return;
  governor_.control_.leave(admission_.stream, governor_.clock_.now());
  governor_.give_turns();
  governor_.given_turn_.notify_all();
}

std::optional<Published> Governor::Place::take_knobs() {
  const std::lock_guard lock(governor_.mutex_);
  governor_.give_turns();
  return governor_.control_.take_knobs(admission_.stream);
}

void Governor::Place::set_base(const core::Knobs& base) {
  const std::lock_guard lock(governor_.mutex_);
  governor_.control_.set_base(admission_.stream, base);
}

void Governor::Place::set_policy(const Policy& policy, int slo_ms) {
  const std::lock_guard lock(governor_.mutex_);
  governor_.control_.set_policy(admission_.stream, policy, slo_ms);
}

Governor::Turn& Governor::Turn::operator=(Turn&& other) noexcept {
  if (this == &other) return *this;
  end();
  governor_ = std::exchange(other.governor_, nullptr);
  stream_ = other.stream_;
  served_ = other.served_;
  return *this;
}

bool Governor::Turn::fits(core::SteadyTime captured) const {
  if (!governor_) return true;
  const std::lock_guard lock(governor_->mutex_);
  return governor_->control_.fits(stream_, core::ms_between(captured, governor_->clock_.now()));
}

void Governor::Turn::served(const StepShape& shape, core::SteadyTime captured) {
  if (!governor_) return;
  served_ = {.shape = shape,
             .age_ms = core::ms_between(captured, governor_->clock_.now()),
             .answered = true};
}

void Governor::Turn::end() {
  Governor* governor = std::exchange(governor_, nullptr);
  if (!governor) return;
  const std::lock_guard lock(governor->mutex_);
  governor->control_.done(stream_, served_, governor->clock_.now());
  governor->give_turns();
}

}  // namespace saccade::governor
