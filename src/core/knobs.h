#pragma once
// What may be turned while a stream runs. A Knobs value is immutable once published and has a
// version; each Moment carries the one it was planned with, so a result can always be explained.
// Fixed for a session's life (model, source, prompts): session options, not here.
#include <cstdint>
#include <memory>

#include "core/limits.h"
#include "core/media_time.h"

namespace saccade::core {

inline constexpr double kKeepShareMin = 0.05;

struct Knobs {
  std::uint64_t version = 1;

  // ingest
  bool key_pictures_only = false;  // decode only pictures that stand alone, where they come often

  // see
  int fovea_tiles_max = 0;    // sharp tiles beside the global view; 0 = global view only
  int change_threshold = 12;  // 0..255: a cell changed when its mean level moved more than this
  MediaDuration refresh_max = MediaDuration::from_ms(30'000);  // re-encode at least this often
  // attend
  double keep_share = 1;  // of a view's visual tokens, kKeepShareMin..1; 1 = nothing left out
  // decode
  int max_new_tokens = 64;  // per answer, 1..4096
  // read
  std::int64_t read_pixels_max = limits::kReadPixels;  // larger places are scaled down to find
                                                       // text; 1024..kReadPixelsStill
  MediaDuration read_interval_min = MediaDuration::from_ms(0);  // least time between two OCR passes
  // hear
  MediaDuration partial_interval = MediaDuration::from_ms(1'000);  // between two partial hypotheses
};

using KnobsPtr = std::shared_ptr<const Knobs>;

}  // namespace saccade::core
