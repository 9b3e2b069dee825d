#pragma once
// What belongs to one instant.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/knobs.h"
#include "core/media_time.h"
#include "ingest/ingest_types.h"
#include "telemetry/ledger.h"

namespace saccade::align {

// Pictures and sound joined on one axis. A Moment has a picture, or sound, or both; with a picture
// its time is the picture's. `sound` is everything that arrived since the Moment before, in order:
// no block is in two Moments and none is lost.
struct Moment {
  std::uint64_t index = 0;  // counts up by one
  core::MediaTime time;
  core::MediaDuration span;  // to the next Moment as far as known; 0 = unknown
  std::optional<ingest::Frame> picture;
  std::vector<ingest::Frame> sound;
  core::MediaDuration skew;        // picture time minus the nearest sound's time; 0 unless joined
  core::MediaDuration clock_skew;  // measured: sound stamps were moved by this to meet the pictures
  bool joined = false;             // sound lies within the join window of the picture
  bool discontinuity = false;      // first Moment of a new epoch
  core::KnobsPtr knobs;
  telemetry::StageLedger ledger;  // capture and align are filled in here
};

}  // namespace saccade::align
