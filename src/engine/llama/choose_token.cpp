#include "engine/llama/choose_token.h"

#include <algorithm>
#include <utility>

#include "engine/llama/sample.h"

namespace saccade::engine::llama {

core::Result<StepResult> choose_token(const Tokenizer& tokenizer, std::span<const float> logits,
                                      const SamplingOptions& sampling, core::Rng& rng) {
  const auto chosen = sample(logits, sampling, rng);
  if (!chosen) return not_finite();
  StepResult out;
  out.id = chosen->id;
  out.logprob = chosen->logprob;
  out.entropy = chosen->entropy;
  out.end = tokenizer.ends_answer(chosen->id);
  if (!out.end) out.bytes = tokenizer.bytes(chosen->id);
  if (sampling.alternatives <= 0) return out;
  const auto count = static_cast<std::size_t>(sampling.alternatives);
  for (const Sampled& other : most_probable(logits, count)) {
    out.alternatives.push_back({tokenizer.bytes(other.id), other.logprob});
  }
  return out;
}

core::Result<std::vector<std::vector<TokenId>>> candidate_tokens(
    const Tokenizer& tokenizer, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return core::error(core::ErrorCode::kUsage, "no candidates to score");
  std::vector<std::vector<TokenId>> out;
  for (const auto& candidate : candidates) {
    auto tokens = tokenizer.plain(candidate);
    if (tokens.empty()) {
      return core::error(core::ErrorCode::kUsage, "candidate '" + candidate + "' has no tokens");
    }
    tokens.resize(std::min(tokens.size(), kCandidateTokensMax));
    out.push_back(std::move(tokens));
  }
  return out;
}

core::Error not_finite() {
  return core::error(core::ErrorCode::kNumeric, "the language model produced NaN or infinity");
}

core::Error context_full(int context) {
  return core::error(
      core::ErrorCode::kExhausted,
      "the answer reached the end of the context of " + std::to_string(context) + " tokens",
      "load the model with a larger context");
}

}  // namespace saccade::engine::llama
