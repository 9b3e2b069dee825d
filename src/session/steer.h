#pragma once
// What a running session is told from outside, kept until the stage that it concerns takes it up,
// and the newest window for questions from outside.
// Threads: any.
#include <mutex>
#include <optional>
#include <vector>

#include "attend/attend_types.h"
#include "core/result.h"
#include "session/govern.h"
#include "session/session.h"

namespace saccade::session {

class Steered {
 public:
  // As Session::steer. `answers`: the session can answer questions; `place`: null = not governed.
  core::Status put(Steering steering, bool answers, Governor::Place* place);
  // As Session::ask.
  core::Status ask(const QuestionOptions& options, const SessionModels& models,
                   const QuestionContext& context) const;

  // What was put last, once.
  std::optional<core::Knobs> take_knobs();
  std::optional<std::vector<attend::StandingPrompt>> take_prompts();
  // The newest picture's window.
  void show(std::optional<attend::Focus> window);

 private:
  mutable std::mutex mutex_;  // guards both
  Steering next_;
  std::optional<attend::Focus> window_;
};

}  // namespace saccade::session
