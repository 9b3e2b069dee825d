#pragma once
// Knobs fitted to what the source turned out to be.
#include "core/knobs.h"
#include "emit/emitter.h"
#include "ingest/ingest_types.h"

namespace saccade::session {

// A single still picture is looked at once and need not keep a pace, so small text on it is worth
// kReadPixelsStill. The same Knobs when they fit already; others get a new version and are told.
core::KnobsPtr fit_knobs(core::KnobsPtr knobs, const ingest::SourceInfo& source,
                         emit::Emitter& emitter);

}  // namespace saccade::session
