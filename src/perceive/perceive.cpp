#include "perceive/perceive.h"

namespace saccade::perceive {

Percept Perceiver::see(align::Moment moment) {
  Percept percept;
  percept.moment = std::move(moment);
  last_time_ = percept.moment.time;
  const telemetry::StageTimer timer(percept.moment.ledger, telemetry::Stage::kSee, *clock_);
  auto seen = seer_.see(*percept.moment.picture, *percept.moment.knobs);
  if (!seen) {
    faults_.push_back(std::move(seen).error());
    return percept;
  }
  if (seen->fault) faults_.push_back(std::move(*seen->fault));
  percept.change = std::move(seen->change);
  percept.unchanged = seen->unchanged;
  percept.views = std::move(seen->views);
  return percept;
}

void Perceiver::read(Percept& percept) {
  if (!reader_) return;
  const telemetry::StageTimer timer(percept.moment.ledger, telemetry::Stage::kRead, *clock_);
  auto lines = reader_->read(*percept.moment.picture, percept.change, *percept.moment.knobs);
  if (!lines) {
    faults_.push_back(std::move(lines).error());
    return;
  }
  percept.text_events = std::move(lines->events);
  percept.text_visible = std::move(lines->visible);
}

std::optional<Percept> Perceiver::finish() {
  if (!reader_ || !last_time_.is_set()) return std::nullopt;
  Percept last;
  last.moment.time = last_time_;
  last.text_events = reader_->finish(last_time_).events;
  return last;
}

}  // namespace saccade::perceive
