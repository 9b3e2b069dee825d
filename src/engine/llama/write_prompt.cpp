#include "engine/llama/write_prompt.h"

#include <llama.h>

#include <algorithm>
#include <utility>

namespace saccade::engine::llama {
namespace {

void append(Prompt& prompt, const std::vector<TokenId>& tokens) {
  if (tokens.empty()) return;
  prompt.tokens += static_cast<int>(tokens.size());
  if (!prompt.pieces.empty()) {
    if (auto* last = std::get_if<std::vector<TokenId>>(&prompt.pieces.back())) {
      last->insert(last->end(), tokens.begin(), tokens.end());
      return;
    }
  }
  prompt.pieces.emplace_back(tokens);
}

void append(Prompt& prompt, const EncodedView& view) {
  for (const auto& segment : view.segments) {
    if (const auto* tokens = std::get_if<std::vector<TokenId>>(&segment)) {
      append(prompt, *tokens);
    } else {
      const auto& span = std::get<VisualSpanPtr>(segment);
      prompt.tokens += span->tokens;
      prompt.pieces.emplace_back(span);
    }
  }
}

}  // namespace

std::string meta(const llama_model* model, const char* key) {
  const auto bytes = llama_model_meta_val_str(model, key, nullptr, 0);
  if (bytes <= 0) return {};
  std::string out(static_cast<std::size_t>(bytes) + 1, '\0');
  llama_model_meta_val_str(model, key, out.data(), out.size());
  out.resize(static_cast<std::size_t>(bytes));
  return out;
}

core::Result<int> context_tokens(int trained, int wanted) {
  if (wanted != 0 && (wanted < kContextTokensMin || wanted > kContextTokensMax)) {
    return core::error(core::ErrorCode::kUsage, "context of " + std::to_string(wanted) +
                                                    " tokens (allowed 0 or " +
                                                    std::to_string(kContextTokensMin) + ".." +
                                                    std::to_string(kContextTokensMax) + ")");
  }
  if (wanted != 0) return wanted;
  return std::clamp(trained, kContextTokensMin, kContextTokensDefault);
}

core::Error too_long(int tokens, int context) {
  return core::error(
      core::ErrorCode::kExhausted,
      "prompt has " + std::to_string(tokens) + " tokens, context holds " + std::to_string(context),
      "ask for less at once, or load the model with a larger context");
}

core::Result<std::unique_ptr<PromptWriter>> PromptWriter::create(const llama_model* model) {
  const Tokenizer tokenizer(llama_model_get_vocab(model));
  const char* text = llama_model_chat_template(model, nullptr);
  auto chat =
      ChatTemplate::compile({text != nullptr ? text : "", tokenizer.text_of(tokenizer.bos()),
                             tokenizer.text_of(llama_vocab_eos(llama_model_get_vocab(model)))});
  if (!chat) return chat.error();
  return std::unique_ptr<PromptWriter>(new PromptWriter(model, std::move(*chat)));
}

PromptWriter::PromptWriter(const llama_model* model, std::unique_ptr<ChatTemplate> chat)
    : tokenizer_(llama_model_get_vocab(model)), idefics3_(tokenizer_), template_(std::move(chat)) {}

void PromptWriter::add_bos(Prompt& prompt) const {
  if (!tokenizer_.adds_bos()) return;
  auto* first =
      prompt.pieces.empty() ? nullptr : std::get_if<std::vector<TokenId>>(&prompt.pieces.front());
  if (first == nullptr) {
    prompt.pieces.insert(prompt.pieces.begin(), std::vector<TokenId>{tokenizer_.bos()});
    ++prompt.tokens;
  } else if (first->front() != tokenizer_.bos()) {
    first->insert(first->begin(), tokenizer_.bos());
    ++prompt.tokens;
  }
}

core::Result<Prompt> PromptWriter::write(const std::vector<ChatTurn>& turns, int context_tokens) {
  auto pieces = template_->render(turns);
  if (!pieces) return pieces.error();
  Prompt prompt;
  Tokenizer::Run run(tokenizer_);
  const EncodedView* before = nullptr;  // the view that directly precedes, if one does
  for (const auto& piece : *pieces) {
    if (const auto* text = std::get_if<TemplateText>(&piece)) {
      run.add_template(text->text);
      if (!text->text.empty()) before = nullptr;
      continue;
    }
    const auto& part = std::get<ChatPart>(piece);
    if (const auto* text = std::get_if<std::string>(&part.content)) {
      run.add_content(*text);
      if (!text->empty()) before = nullptr;
      continue;
    }
    const auto& view = std::get<EncodedViewPtr>(part.content);
    if (!view) return core::error(core::ErrorCode::kUsage, "a turn holds an empty view");
    append(prompt, run.finish());
    if (before != nullptr) append(prompt, idefics3_.between(*before, *view));
    append(prompt, *view);
    before = view.get();
  }
  append(prompt, run.finish());
  add_bos(prompt);
  if (prompt.tokens >= context_tokens) return too_long(prompt.tokens, context_tokens);
  return prompt;
}

}  // namespace saccade::engine::llama
