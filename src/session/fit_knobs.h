#pragma once
// Knobs fitted to what the source turned out to be, what is asked for and what the load allows.
#include <optional>

#include "core/knobs.h"
#include "emit/emitter.h"
#include "ingest/ingest_types.h"
#include "session/govern.h"

namespace saccade::session {

// A single still picture is looked at once and need not keep a pace, so small text on it is worth
// kReadPixelsStill. The same Knobs when they fit already; others get a new version and are told.
core::KnobsPtr fit_knobs(core::KnobsPtr knobs, const ingest::SourceInfo& source,
                         emit::Emitter& emitter);

// Puts those that were asked for meanwhile in force, as the governor fits them to the load; what is
// new is told. `asked` may be empty, `place` null.
void renew_knobs(core::KnobsPtr& knobs, std::optional<core::Knobs> asked, Governor::Place* place,
                 emit::Emitter& emitter);

}  // namespace saccade::session
