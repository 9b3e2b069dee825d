#include "session/hearing.h"

#include "core/limits.h"

namespace saccade::session {

Hearing::Hearing(std::optional<perceive::Listener> listener, emit::Emitter& emitter,
                 const core::Knobs& knobs)
    : listener_(std::move(listener)),
      emitter_(emitter),
      knobs_(knobs),
      sounds_(core::limits::kAudioBlocksQueued),
      lines_(core::limits::kContextLinesMax) {}

void Hearing::put(ingest::Frame sound) {
  if (listener_) sounds_.push(std::move(sound));
}

void Hearing::run() {
  core::MediaTime now;
  while (auto sound = sounds_.pop()) {
    now = sound->time;
    tell(listener_->push(*sound, knobs_), now);
  }
  if (listener_) tell(listener_->flush(), now);
}

void Hearing::tell(core::Result<std::vector<perceive::Utterance>> heard, core::MediaTime now) {
  if (!heard) return emitter_.on_error(heard.error());
  if (heard->empty()) return;
  perceive::Percept percept;
  percept.moment.time = now;
  percept.speech = std::move(heard).value();
  emitter_.on_percept(percept);
  for (perceive::Utterance& utterance : percept.speech) {
    if (!utterance.final) continue;
    while (!lines_.try_push(utterance)) lines_.try_pop();
  }
}

}  // namespace saccade::session
