#pragma once
// What became of the pictures that clients pushed into one stream, as JSON in a ring of its own, so
// that it can be resumed and does not push events out of theirs.
//   {"v":1,"kind":"outcome","stream":"cam","n":12,"frame":77,"outcome":"seen","t0":3.200}
//   {"v":1,"kind":"outcome","stream":"cam","n":13,"frame":78,"outcome":"drop","reason":"busy"}
// Threads: any.
#include <memory>
#include <string>

#include "session/session.h"
#include "transport/serve/event_ring.h"
#include "transport/serve/serve_metrics.h"

namespace saccade::transport {

class PushOutcomes final : public ingest::PushPort::Listener {
 public:
  // `metrics` must outlive it.
  PushOutcomes(std::string stream, ServeMetrics& metrics);

  void on_outcome(const ingest::PushOutcome& outcome) override;
  void on_change() override { ring_->nudge(); }
  const std::shared_ptr<EventRing>& ring() const { return ring_; }

 private:
  const std::string stream_;
  ServeMetrics& metrics_;
  const std::shared_ptr<EventRing> ring_;
  std::uint64_t made_ = 0;  // under the port's lock
};

}  // namespace saccade::transport
