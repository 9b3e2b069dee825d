#pragma once
// Options and borrowed models become the parts of one pipeline. Everything that can be wrong with
// them is found here, before a thread starts.
#include "core/clock.h"
#include "core/result.h"
#include "core/rng.h"
#include "emit/emit_types.h"
#include "session/session.h"
#include "session/wiring.h"

namespace saccade::session {

struct BuildContext {
  emit::EventSink& sink;
  const core::Clock& clock;
  core::Rng rng;
};

// Errors: as Session::open.
core::Result<Parts> build_parts(const SessionOptions& options, const SessionModels& models,
                                BuildContext context);

// Whether screen text and speech go into prompts.
bool wants_lines(ContextLines chosen, const SessionModels& models);

}  // namespace saccade::session
