#pragma once
// The LanguageModel on our own decoder: one session of a DecodeEngine. What a prompt shares with
// the prompt before it, token by token and picture by picture, is not read again. Threads: one at a
// time per session; sessions of one engine may run side by side and are batched.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/rng.h"
#include "engine/language_model.h"
#include "engine/llama/handles.h"
#include "engine/llama/write_prompt.h"
#include "engine/native/decode_engine.h"

namespace saccade::engine::native {

class NativeLanguage final : public LanguageModel {
 public:
  // What sessions of one model share.
  struct Shared {
    llama::WeightsPtr text;  // vocabulary only
    std::unique_ptr<DecodeEngine> engine;
    LanguageTraits traits;
  };
  // Errors: kModelUnusable (template), kExhausted (sequences).
  static core::Result<std::unique_ptr<LanguageModel>> create(std::shared_ptr<Shared> shared);
  ~NativeLanguage() override;

  const LanguageTraits& traits() const override { return shared_->traits; }
  LanguageUse use() const override { return shared_->engine->counts(); }
  core::Result<Prompt> render(const std::vector<ChatTurn>& turns) override;
  core::Result<std::vector<TokenId>> tokenize(std::string_view text) override;
  core::Status start(const Prompt& prompt, const SamplingOptions& sampling) override;
  void forget() override;
  core::Result<StepResult> step() override;
  core::Result<std::vector<float>> score_first(const std::vector<std::string>& candidates) override;
  core::Result<std::unique_ptr<LanguageModel>> another() override;

 private:
  NativeLanguage(std::shared_ptr<Shared> shared, std::unique_ptr<llama::PromptWriter> writer,
                 kv::Sequence sequence);
  core::Result<std::vector<InputToken>> flatten(const Prompt& prompt) const;
  // Reads tokens behind what the session holds; logits_ are those after the last.
  core::Status read(const std::vector<InputToken>& tokens);
  core::Result<float> score(const std::vector<TokenId>& tokens);

  const std::shared_ptr<Shared> shared_;
  const std::unique_ptr<llama::PromptWriter> writer_;
  const kv::Sequence sequence_;
  // Text only follows text at the end, so the last position is the greatest on every axis.
  std::int32_t next_position() const { return held_.empty() ? 0 : held_.back().position.t + 1; }
  std::vector<InputToken> held_;  // in memory
  std::vector<float> logits_;     // [vocabulary], of the next token
  TokenId pending_ = -1;          // sampled, not yet read
  bool running_ = false;
  SamplingOptions sampling_;
  core::Rng rng_{0};
};

}  // namespace saccade::engine::native
