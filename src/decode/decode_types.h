#pragma once
// One step of an answer.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attend/attend_types.h"

namespace saccade::decode {

enum class FinishReason { kNone, kStop, kLength, kCancelled, kError };

struct Token {
  std::uint64_t answer = 0;  // which answer it belongs to
  engine::TokenId id = 0;
  std::string bytes;  // may be part of a character
  float logprob = 0, entropy = 0;
  std::vector<engine::Alternative> alternatives;  // as many as the sampling options asked for
  std::uint32_t epoch = 0;                        // media epoch of the Moment
  double decode_ms = 0;                           // since the answer began, reading included
  FinishReason finish = FinishReason::kNone;      // set on the last token only; its bytes are empty
  std::string error;                              // with kError: one line
};

// A yes/no decision read from the logits.
struct Verdict {
  bool yes = false;
  float probability = 0;  // of yes, 0..1
};

}  // namespace saccade::decode
