#pragma once
// The ear of a session: sound goes its own way, at its own pace, and is never dropped.
// Threads: one calls run(); put() and close() come from ingest, take_line() from perceive.
#include <optional>
#include <utility>
#include <vector>

#include "core/bounded_queue.h"
#include "emit/emitter.h"
#include "perceive/hear/hear.h"

namespace saccade::session {

class Hearing {
 public:
  // Without a listener nothing is heard. `emitter` must outlive it.
  Hearing(std::optional<perceive::Listener> listener, emit::Emitter& emitter,
          const core::Knobs& knobs);

  // Waits while the queue is full.
  void put(ingest::Frame sound);
  void close() { sounds_.close(); }
  // Hears until close(), then what is left.
  void run();
  // Lines for prompts, oldest first. When nobody takes them, the oldest go.
  std::optional<perceive::Utterance> take_line() { return lines_.try_pop(); }

 private:
  void tell(core::Result<std::vector<perceive::Utterance>> heard, core::MediaTime now);

  std::optional<perceive::Listener> listener_;
  emit::Emitter& emitter_;
  const core::Knobs knobs_;
  core::BoundedQueue<ingest::Frame> sounds_;
  core::BoundedQueue<perceive::Utterance> lines_;
};

}  // namespace saccade::session
