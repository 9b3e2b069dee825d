#pragma once
// Which visual tokens of a view the language model shall read when it may not read them all. Kept
// tokens keep their positions; the count is exact, so that graphs can be reused.
//
// The salient method: a token is kept at once when it is unlike the picture's mean (distinct), or
// when the tower looks at it and not everybody alike (an attention sink is looked at by all); it is
// dropped at once when it is neither. The rest is filled up with whatever differs most from what is
// kept, and every block of the picture keeps at least one. Cost: O(tokens * kept * width), about
// 0.1 ms for 64 tokens of 576.
// Sources: dual threshold and farthest point after DivPrune (Alvar et al., CVPR 2025) and
// VisPruner (Zhang et al., ICCV 2025); distinctness as in VidCom2 (Liu et al., 2025).
// Threads: pure functions.
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "engine/vision_encoder.h"

namespace saccade::engine::prune {

enum class KeepMethod {
  kSalient,
  kUniform,  // baseline: every n-th
  kRandom,   // baseline: drawn from `seed`
};

struct KeepOptions {
  float share = 1.0F;  // of the tokens, in (0, 1]
  KeepMethod method = KeepMethod::kSalient;
  std::uint64_t seed = 0;
  std::vector<int> always{};  // tokens that must stay, e.g. under screen text
  // Quantiles of the two thresholds of distinctness and attention; above `high` keep, below `low`
  // of both drop. `spread_max`: attention given more evenly than this counts as a sink.
  float low = 0.25F, high = 0.75F, spread_max = 0.98F;
};

// How many of `tokens` a share keeps: rounded up to a multiple of kKeepStep, at most all.
inline constexpr int kKeepStep = 4;
int keep_count(int tokens, float share);

// Kept tokens in reading order. `span` must be a whole one. Errors: kUsage (share, always).
core::Result<std::vector<int>> keep_tokens(const VisualSpan& span, const KeepOptions& options);

// The span with only these tokens, or `span` itself when all are kept.
VisualSpanPtr reduce_span(const VisualSpanPtr& span, const std::vector<int>& kept);

// Every span of a view reduced by the same options. Errors: as keep_tokens.
core::Result<EncodedViewPtr> reduce_view(const EncodedViewPtr& view, const KeepOptions& options);

}  // namespace saccade::engine::prune
