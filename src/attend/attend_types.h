#pragma once
// What the language model shall see for one Moment.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/language_model.h"
#include "perceive/perceive_types.h"

namespace saccade::attend {

// A standing question of the session.
struct StandingPrompt {
  enum class Kind {
    kAnswer,  // free text
    kAlert,   // yes or no, with a probability
  };
  Kind kind = Kind::kAnswer;
  std::string id;    // shown in events, unique in the session
  std::string text;  // 1..kPromptBytesMax bytes
};

// One question about one Moment, ready to be rendered.
struct Focus {
  StandingPrompt prompt;
  std::vector<engine::ChatTurn> turns;
  int visual_tokens = 0;       // kept
  int visual_tokens_full = 0;  // before pruning
  core::MediaTime time, end;   // media span the answer is about
  core::SteadyTime captured;   // of the picture, for the frame age; of the sound without one
  core::KnobsPtr knobs;
  telemetry::StageLedger ledger;
};

}  // namespace saccade::attend
