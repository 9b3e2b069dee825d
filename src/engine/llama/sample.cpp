#include "engine/llama/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace saccade::engine::llama {
namespace {

struct Softmax {
  std::size_t best = 0;
  double highest = 0;  // logit
  double total = 0;    // of exp(logit - highest)
  double moment = 0;   // of exp(logit - highest) * (logit - highest)
};

std::optional<Softmax> softmax(std::span<const float> logits) {
  if (logits.empty()) return std::nullopt;
  Softmax s;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i]) || logits[i] == HUGE_VALF) return std::nullopt;
    if (logits[i] > logits[s.best]) s.best = i;
  }
  if (!std::isfinite(logits[s.best])) return std::nullopt;
  s.highest = logits[s.best];
  for (const float logit : logits) {
    const double gap = logit - s.highest;
    const double weight = std::exp(gap);
    s.total += weight;
    if (weight > 0) s.moment += weight * gap;
  }
  return s;
}

// Tokens that survive min-p and top-p, best first, with weights at the wanted temperature.
std::size_t draw(std::span<const float> logits, const Softmax& s, const SamplingOptions& options,
                 core::Rng& rng) {
  // min-p looks at the distribution before the temperature; weights below e^-40 never matter.
  double floor = -40.0 * options.temperature;
  if (options.min_p > 0) floor = std::max(floor, std::log(static_cast<double>(options.min_p)));
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] - s.highest >= floor) kept.push_back(i);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  std::vector<double> weight(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    weight[i] = std::exp((logits[kept[i]] - s.highest) / options.temperature);
  }
  double mass = std::accumulate(weight.begin(), weight.end(), 0.0);
  std::size_t count = kept.size();
  if (options.top_p < 1) {
    double sum = 0;
    for (count = 0; count < kept.size() && sum < options.top_p * mass; ++count) {
      sum += weight[count];
    }
    count = std::max<std::size_t>(count, 1);
    mass =
        std::accumulate(weight.begin(), weight.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
  }
  double target = rng.uniform() * mass;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    target -= weight[i];
    if (target < 0) return kept[i];
  }
  return kept[count - 1];
}

}  // namespace

core::Status check_sampling(const SamplingOptions& s) {
  const auto bad = [](const char* name, float value, const char* range) {
    return core::error(core::ErrorCode::kUsage, std::string(name) + " is " + std::to_string(value) +
                                                    " (allowed " + range + ")");
  };
  if (!(s.temperature >= 0 && s.temperature <= 100)) {
    return bad("temperature", s.temperature, "0..100");
  }
  if (!(s.top_p > 0 && s.top_p <= 1)) return bad("top_p", s.top_p, "above 0 up to 1");
  if (!(s.min_p >= 0 && s.min_p < 1)) return bad("min_p", s.min_p, "0 to below 1");
  if (s.alternatives < 0 || s.alternatives > kAlternativesMax) {
    return bad("alternatives", static_cast<float>(s.alternatives), "0..20");
  }
  return {};
}

std::optional<Sampled> sample(std::span<const float> logits, const SamplingOptions& options,
                              core::Rng& rng) {
  const auto s = softmax(logits);
  if (!s) return std::nullopt;
  const std::size_t chosen = options.temperature > 0 ? draw(logits, *s, options, rng) : s->best;
  Sampled out;
  out.id = static_cast<TokenId>(chosen);
  out.logprob = static_cast<float>(logits[chosen] - s->highest - std::log(s->total));
  out.entropy = static_cast<float>((std::log(s->total) - s->moment / s->total) / std::log(2.0));
  return out;
}

std::vector<Sampled> most_probable(std::span<const float> logits, std::size_t count) {
  const auto s = softmax(logits);
  if (!s) return {};
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto logit = [&](TokenId id) { return logits[static_cast<std::size_t>(id)]; };
  const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size()));
  std::partial_sort(ids.begin(), end, ids.end(), [&](TokenId a, TokenId b) {
    return logit(a) > logit(b) || (logit(a) == logit(b) && a < b);
  });
  std::vector<Sampled> out;
  for (auto id = ids.begin(); id != end && std::isfinite(logit(*id)); ++id) {
    out.push_back(
        {.id = *id, .logprob = static_cast<float>(logit(*id) - s->highest - std::log(s->total))});
  }
  return out;
}

std::vector<float> normalise_scores(std::vector<float> scores) {
  const float best = *std::max_element(scores.begin(), scores.end());
  double total = 0;
  for (const float x : scores) total += std::exp(x - best);
  for (float& x : scores) x = static_cast<float>(x - best - std::log(total));
  return scores;
}

std::optional<float> log_probability(std::span<const float> logits, TokenId id) {
  const auto s = softmax(logits);
  if (!s || id < 0 || static_cast<std::size_t>(id) >= logits.size()) return std::nullopt;
  return static_cast<float>(logits[static_cast<std::size_t>(id)] - s->highest - std::log(s->total));
}

}  // namespace saccade::engine::llama
