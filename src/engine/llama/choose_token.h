#pragma once
// What both language engines do alike: from logits to one step of an answer, and candidates as
// tokens. Pure but for the generator.
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/rng.h"
#include "engine/language_model.h"
#include "engine/llama/tokenizer.h"

namespace saccade::engine::llama {

inline constexpr std::size_t kCandidateTokensMax = 8;  // of a candidate; the rest is not scored

// The next step; `end` when the chosen token ends the answer. Errors: kNumeric.
core::Result<StepResult> choose_token(const Tokenizer& tokenizer, std::span<const float> logits,
                                      const SamplingOptions& sampling, core::Rng& rng);

// At least one token each. Errors: kUsage (no candidates, one without tokens).
core::Result<std::vector<std::vector<TokenId>>> candidate_tokens(
    const Tokenizer& tokenizer, const std::vector<std::string>& candidates);

// kNumeric.
core::Error not_finite();
// kExhausted.
core::Error context_full(int context);

}  // namespace saccade::engine::llama
