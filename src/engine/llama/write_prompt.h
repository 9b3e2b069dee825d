#pragma once
// From a conversation to a prompt: chat template, tokenizer and the wrappers of pictures together.
// Both language engines read prompts made here.
// Threads: one at a time per object; the model must outlive it.
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "engine/language_model.h"
#include "engine/llama/chat_template.h"
#include "engine/llama/idefics3.h"
#include "engine/llama/tokenizer.h"

struct llama_model;

namespace saccade::engine::llama {

inline constexpr int kContextTokensDefault = 8192;
inline constexpr int kContextTokensMin = 128;
inline constexpr int kContextTokensMax = 1 << 20;

class PromptWriter {
 public:
  // Needs only the vocabulary of `model`. Errors: kModelUnusable (template).
  static core::Result<std::unique_ptr<PromptWriter>> create(const llama_model* model);

  const Tokenizer& tokenizer() const { return tokenizer_; }
  // Errors: as LanguageModel::render.
  core::Result<Prompt> write(const std::vector<ChatTurn>& turns, int context_tokens);

 private:
  PromptWriter(const llama_model* model, std::unique_ptr<ChatTemplate> chat);
  void add_bos(Prompt& prompt) const;

  const Tokenizer tokenizer_;
  const Idefics3 idefics3_;
  const std::unique_ptr<ChatTemplate> template_;
};

// A metadata entry of the file as text; "" when absent.
std::string meta(const llama_model* model, const char* key);
// The context to load with: `wanted`, or for 0 what the model was trained with, up to
// kContextTokensDefault.
// Errors: kUsage.
core::Result<int> context_tokens(int trained, int wanted);
// kExhausted with both counts.
core::Error too_long(int tokens, int context);

}  // namespace saccade::engine::llama
