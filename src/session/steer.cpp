#include "session/steer.h"

#include <memory>
#include <string>
#include <utility>

#include "attend/attend.h"
#include "session/question.h"

namespace saccade::session {

core::Status Steered::put(Steering steering, bool answers, Governor::Place* place) {
  if (steering.prompts) {
    if (!answers) {
      return core::error(core::ErrorCode::kUnsupported, "this stream answers no questions",
                         "start it with the sense see");
    }
    attend::AttendOptions options;
    options.prompts = *steering.prompts;
    const auto checked = attend::Attender::make(std::move(options));
    if (!checked) return checked.error();
  }
  if (steering.governing) {
    if (!place) {
      return core::error(core::ErrorCode::kUnsupported, "this stream waits for its answers",
                         "policies are for live sources and files played in real time");
    }
    if (steering.governing->book) place->governor().set_policies(steering.governing->book);
    const auto policy = policy_of(*steering.governing, place->governor());
    if (!policy) return policy.error();
    place->set_policy(*policy, steering.governing->slo_ms);
  }
  const std::lock_guard lock(mutex_);
  if (steering.prompts) next_.prompts = std::move(steering.prompts);
  if (steering.knobs) next_.knobs = steering.knobs;
  return {};
}

std::optional<core::Knobs> Steered::take_knobs() {
  const std::lock_guard lock(mutex_);
  return std::exchange(next_.knobs, std::nullopt);
}

std::optional<std::vector<attend::StandingPrompt>> Steered::take_prompts() {
  const std::lock_guard lock(mutex_);
  return std::exchange(next_.prompts, std::nullopt);
}

void Steered::show(std::optional<attend::Focus> window) {
  const std::lock_guard lock(mutex_);
  window_ = std::move(window);
}

core::Status Steered::ask(const QuestionOptions& options, const SessionModels& models,
                          const QuestionContext& context) const {
  std::optional<attend::Focus> focus;
  {
    const std::lock_guard lock(mutex_);
    focus = window_;
  }
  if (!focus) {
    return core::error(core::ErrorCode::kUnsupported, "the stream has shown no picture yet",
                       "ask again when it is up");
  }
  const std::string& text = std::get<std::string>(options.turns.at(0).parts.at(0));
  focus->prompt = {attend::StandingPrompt::Kind::kAnswer, "question", text};
  focus->turns.back().parts.push_back({text});
  focus->knobs = std::make_shared<core::Knobs>(options.knobs);
  return answer_focus(*focus, options, models, context);
}

}  // namespace saccade::session
