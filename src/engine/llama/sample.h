#pragma once
// From logits to one token: greedy, or temperature, min-p and top-p with a seeded generator.
// Pure functions over plain numbers; any thread.
#include <optional>
#include <span>
#include <vector>

#include "core/rng.h"
#include "engine/language_model.h"

namespace saccade::engine::llama {

struct Sampled {
  TokenId id = 0;
  float logprob = 0;  // natural log, of the unfiltered distribution at temperature 1
  float entropy = 0;  // bit, of the same distribution
};

// Errors: kUsage with the option, its value and the allowed range.
core::Status check_sampling(const SamplingOptions& options);

// Nothing when a logit is NaN or +infinity, or when none is finite; -infinity means "never".
// Draws from `rng` once, and only when `options.temperature` > 0.
std::optional<Sampled> sample(std::span<const float> logits, const SamplingOptions& options,
                              core::Rng& rng);

// The tokens of the `count` highest logits, best first, the lower id first among equals; without
// those that can never come. Empty when a logit is NaN or +infinity.
std::vector<Sampled> most_probable(std::span<const float> logits, std::size_t count);

// Log probabilities of alternatives, brought to a sum of one.
std::vector<float> normalise_scores(std::vector<float> scores);

// Natural log of the softmax at one index; same NaN rule.
std::optional<float> log_probability(std::span<const float> logits, TokenId id);

}  // namespace saccade::engine::llama
