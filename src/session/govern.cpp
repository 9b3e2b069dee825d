#include "session/govern.h"

#include <string>

namespace saccade::session {

core::Result<governor::Policy> policy_of(const Governing& asked, const Governor& governor) {
  constexpr int kSloMax = 600'000;
  if (asked.slo_ms < 0 || asked.slo_ms > kSloMax) {
    return core::error(core::ErrorCode::kUsage,
                       "slo_ms " + std::to_string(asked.slo_ms) + " (allowed 1..600000)",
                       "milliseconds from a picture to its answer, or 0 for the policy's");
  }
  const std::string_view usual = asked.slo_ms > 0 ? governor::kDefaultPolicy : governor::kNoPolicy;
  return governor.policies()->find(asked.policy == "auto" ? usual : asked.policy);
}

core::Result<std::unique_ptr<Governor::Place>> join_governor(Governor& governor,
                                                             const SessionOptions& options,
                                                             const SessionModels& models) {
  const auto policy = policy_of(options.governing, governor);
  if (!policy) return policy.error();
  governor::Terms terms;
  terms.policy = *policy;
  terms.slo_ms = options.governing.slo_ms;
  terms.base = options.knobs;
  if (models.vision) terms.abilities.tiles = models.vision->traits().tiles;
  terms.abilities.decodes = options.source.push == nullptr && options.source.want_video;
  if (models.language) terms.abilities.prunes = models.language->traits().reduced_spans;
  return governor.join(terms);
}

governor::StepShape shape_of(const perceive::Percept& percept,
                             const std::vector<attend::Focus>& foci) {
  governor::StepShape shape;
  for (const perceive::SeenView& view : percept.views) {
    shape.views += !view.cached && view.age == core::MediaDuration();
  }
  for (const attend::Focus& focus : foci) shape.prompt_tokens += focus.visual_tokens;
  return shape;
}

}  // namespace saccade::session
