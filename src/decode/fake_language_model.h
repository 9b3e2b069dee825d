#pragma once
// For tests: a model that says what it was told to, byte by byte or in given pieces.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/language_model.h"

namespace saccade::decode {

class FakeLanguageModel final : public engine::LanguageModel {
 public:
  std::vector<std::string> pieces;  // said in order, then the end of the answer
  std::optional<core::Error> render_error, start_error;
  std::optional<core::Error> step_error;   // after all pieces, instead of the end
  std::map<std::string, float> scores;     // of score_first; absent = -30
  int steps = 0, starts = 0, forgets = 0;  // how often it was called

  const engine::LanguageTraits& traits() const override { return traits_; }

  core::Result<engine::Prompt> render(const std::vector<engine::ChatTurn>& turns) override {
    if (render_error) return *render_error;
    engine::Prompt prompt;
    prompt.tokens = static_cast<int>(turns.size());
    return prompt;
  }
  core::Status start(const engine::Prompt&, const engine::SamplingOptions&) override {
    ++starts;
    next_ = 0;
    if (start_error) return *start_error;
    return {};
  }
  void forget() override { ++forgets; }
  core::Result<engine::StepResult> step() override {
    ++steps;
    engine::StepResult out;
    if (next_ == pieces.size()) {
      if (step_error) return *step_error;
      out.end = true;
      return out;
    }
    out.id = static_cast<engine::TokenId>(next_);
    out.bytes = pieces[next_++];
    out.logprob = -0.5F;
    return out;
  }
  core::Result<std::vector<float>> score_first(
      const std::vector<std::string>& candidates) override {
    std::vector<float> out;
    for (const auto& candidate : candidates) {
      const auto it = scores.find(candidate);
      out.push_back(it == scores.end() ? -30.0F : it->second);
    }
    return out;
  }

 private:
  engine::LanguageTraits traits_;
  std::size_t next_ = 0;
};

}  // namespace saccade::decode
