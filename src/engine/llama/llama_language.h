#pragma once
// The LanguageModel on libllama: one sequence, one owner thread.
// What a prompt shares with the prompt before it is not read again, in units of whole batches: a
// batch is always cut and computed the same way, so a reused prefix gives the same bits as a cold
// start. Reading a prompt costs no allocation per token beyond the batch.
#include <memory>
#include <string>
#include <vector>

#include "core/rng.h"
#include "engine/language_model.h"
#include "engine/llama/handles.h"
#include "engine/llama/write_prompt.h"

namespace saccade::engine::llama {

inline constexpr int kBatchTokensMax = 512;    // also the longest span of a non-causal family
inline constexpr int kReuseBlockTokens = 128;  // text is reused in blocks of this many

struct LanguageOptions {
  int context_tokens = 0;  // 0 = the model's own, at most kContextTokensDefault
  int threads = 1;
};

class LlamaLanguage final : public LanguageModel {
 public:
  // Errors: kModelUnusable (template, memory), kUsage (context size out of range).
  static core::Result<std::unique_ptr<LanguageModel>> create(WeightsPtr weights,
                                                             const LanguageOptions& options);
  struct Parts;
  explicit LlamaLanguage(Parts parts);

  const LanguageTraits& traits() const override { return traits_; }
  core::Result<Prompt> render(const std::vector<ChatTurn>& turns) override;
  core::Result<std::vector<TokenId>> tokenize(std::string_view text) override {
    return tokenizer_.plain(text);
  }
  core::Status start(const Prompt& prompt, const SamplingOptions& sampling) override;
  void forget() override;
  core::Result<StepResult> step() override;
  core::Result<std::vector<float>> score_first(const std::vector<std::string>& candidates) override;

 private:
  // What is read in one go: some tokens, or one span.
  struct Batch {
    PromptPiece piece;
    int position = 0;       // of its first token
    int next_position = 0;  // after it; a span may take fewer positions than tokens
    int tokens = 0;
  };

  core::Result<std::vector<Batch>> plan(const Prompt& prompt) const;
  core::Status check(const PromptPiece& piece) const;
  core::Status rewind(std::size_t keep);
  core::Status read(Batch& batch, bool last);
  core::Status read_tokens(const std::vector<TokenId>& tokens, int position, bool last);
  core::Status read_span(const VisualSpan& span, Batch& batch);
  core::Status keep_logits();
  core::Result<float> score(const std::vector<TokenId>& tokens);

  const WeightsPtr weights_;
  const std::unique_ptr<PromptWriter> writer_;
  const Tokenizer& tokenizer_;  // the writer's
  LanguageTraits traits_;
  ContextPtr context_;
  BatchPtr batch_;

  std::vector<Batch> read_;    // the prompt in memory
  std::vector<float> logits_;  // [vocabulary], of the next token
  int position_ = 0;           // of the next token
  int used_ = 0;               // cells in memory
  TokenId pending_ = -1;       // sampled, not yet read
  bool running_ = false;
  SamplingOptions sampling_;
  core::Rng rng_{0};
};

}  // namespace saccade::engine::llama
