#include "governor/policy.h"

#include <algorithm>
#include <utility>

namespace saccade::governor {
namespace {

constexpr double kPrunedShare = 0.5;       // docs/models.md says what it costs
constexpr int kCalmer = 3, kCalmerOf = 2;  // threshold times 3/2
constexpr int kChangeMost = 255;
constexpr int kShortestAnswer = 8;
constexpr std::int64_t kReadEveryMs = 1'000;  // slow: between two OCR passes

}  // namespace

PolicyBook::PolicyBook()
    : policies_{
          {.name = std::string(kNoPolicy),
           .purpose = "no deadline: takes what the others leave, and nothing is given up",
           .slo_ms = 600'000,
           .pace = 0,
           .fewer_tiles = false,
           .prune = false,
           .slower = false},
          {.name = std::string(kDefaultPolicy),
           .purpose = "what is to be seen now, soon and often"},
          {.name = "alert",
           .purpose = "a yes or no as fast as possible",
           .slo_ms = 200,
           .pace = 4,
           .max_new_tokens = 16},
          {.name = "reading",
           .purpose = "small text: the picture is never made worse",
           .slo_ms = 1'000,
           .pace = 1,
           .fewer_tiles = false,
           .prune = false},
          {.name = "medical",
           .purpose = "every detail, nothing left out, seconds to spare",
           .slo_ms = 5'000,
           .pace = 0.5,
           .fewer_tiles = false,
           .prune = false,
           .slower = false},
          {.name = "low-power",
           .purpose = "an answer now and then, with the least work",
           .slo_ms = 2'000,
           .pace = 0.5,
           .start = Rung::kPruned,
           .change_threshold = 24},
          {.name = "max-quality",
           .purpose = "as asked for; rarer answers before worse ones",
           .slo_ms = 1'000,
           .pace = 2,
           .fewer_tiles = false,
           .prune = false},
      } {}

core::Status PolicyBook::put(Policy policy) {
  const auto old = std::find_if(policies_.begin(), policies_.end(),
                                [&](const Policy& p) { return p.name == policy.name; });
  if (old != policies_.end()) {
    *old = std::move(policy);
  } else if (policies_.size() < kPoliciesMax) {
    policies_.push_back(std::move(policy));
  } else {
    return core::error(core::ErrorCode::kExhausted,
                       "policy \"" + policy.name + "\" is one too many (at most " +
                           std::to_string(kPoliciesMax) + ")",
                       "remove one");
  }
  return {};
}

core::Result<Policy> PolicyBook::find(std::string_view name) const {
  std::string known;
  for (const Policy& policy : policies_) {
    if (policy.name == name) return policy;
    known += (known.empty() ? "" : ", ") + policy.name;
  }
  return core::error(core::ErrorCode::kUsage, "there is no policy \"" + std::string(name) + "\"",
                     "choose one of " + known);
}

core::Knobs knobs_on(Rung rung, const Policy& policy, const Abilities& abilities,
                     const core::Knobs& base) {
  rung = std::max(rung, policy.start);
  core::Knobs knobs = base;
  if (policy.max_new_tokens) {
    knobs.max_new_tokens = std::min(base.max_new_tokens, *policy.max_new_tokens);
  }
  if (policy.change_threshold) {
    knobs.change_threshold = std::max(base.change_threshold, *policy.change_threshold);
  }
  if (rung >= Rung::kCalm && policy.pace > 0) {
    knobs.change_threshold = std::min(knobs.change_threshold * kCalmer / kCalmerOf, kChangeMost);
    knobs.refresh_max = core::MediaDuration::from_seconds(2 * knobs.refresh_max.seconds());
  }
  if (rung >= Rung::kFewTiles && policy.fewer_tiles) knobs.fovea_tiles_max /= 2;
  if (rung >= Rung::kPruned) {
    if (policy.prune && abilities.prunes) {
      knobs.keep_share = std::min(knobs.keep_share, kPrunedShare);
    }
    if (policy.fewer_tiles) knobs.fovea_tiles_max = 0;
  }
  if (rung >= Rung::kSlow && policy.slower) {
    knobs.max_new_tokens =
        std::max(std::min(knobs.max_new_tokens, kShortestAnswer), knobs.max_new_tokens / 2);
    knobs.read_interval_min =
        std::max(knobs.read_interval_min, core::MediaDuration::from_ms(kReadEveryMs));
  }
  knobs.key_pictures_only = rung >= Rung::kKeys && policy.slower && abilities.decodes;
  return knobs;
}

double pace_on(Rung rung, const Policy& policy) {
  return rung >= Rung::kSlow && policy.slower ? policy.pace / 2 : policy.pace;
}

}  // namespace saccade::governor
