#pragma once
// A Moment's picture through both eyes-side senses: what changed and how it looks, then what it
// reads. Hearing goes at its own pace (hear/hear.h).
// Threads: one, the vision encoder's owner. After an error the stream goes on with the next Moment.
#include <optional>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "perceive/perceive_types.h"
#include "perceive/read/read.h"
#include "perceive/see/see.h"

namespace saccade::perceive {

class Perceiver {
 public:
  // `encoder` may be null (nothing is encoded), `reader` too (nothing is read). All must outlive
  // it.
  Perceiver(engine::VisionEncoder* encoder, TextReader* reader, const core::Clock& clock)
      : seer_(encoder), reader_(reader), clock_(&clock) {}

  // Takes a Moment with a picture and fills change, unchanged and views. Adds to the see stage.
  Percept see(align::Moment moment);
  // Fills the texts of the same Moment. Adds to the read stage.
  void read(Percept& percept);
  // The stream has ended: what ends all text tracks; nothing when no picture came.
  std::optional<Percept> finish();

  // What went wrong since the last call; the Percepts concerned are incomplete.
  std::vector<core::Error> take_faults() { return std::exchange(faults_, {}); }

 private:
  Seer seer_;
  TextReader* reader_;
  const core::Clock* clock_;
  core::MediaTime last_time_;
  std::vector<core::Error> faults_;
};

}  // namespace saccade::perceive
