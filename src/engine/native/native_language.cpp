#include "engine/native/native_language.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/llama/choose_token.h"
#include "engine/llama/sample.h"
#include "engine/native/place_span.h"

namespace saccade::engine::native {

core::Result<std::unique_ptr<LanguageModel>> NativeLanguage::create(
    std::shared_ptr<Shared> shared) {
  auto writer = llama::PromptWriter::create(shared->text->model.get());
  if (!writer) return writer.error();
  const auto sequence = shared->engine->open();
  if (!sequence) return sequence.error();
  return std::unique_ptr<LanguageModel>(
      new NativeLanguage(std::move(shared), std::move(*writer), *sequence));
}

NativeLanguage::NativeLanguage(std::shared_ptr<Shared> shared,
                               std::unique_ptr<llama::PromptWriter> writer, kv::Sequence sequence)
    : shared_(std::move(shared)), writer_(std::move(writer)), sequence_(sequence) {}

NativeLanguage::~NativeLanguage() { shared_->engine->close(sequence_); }

core::Result<std::unique_ptr<LanguageModel>> NativeLanguage::another() { return create(shared_); }

core::Result<Prompt> NativeLanguage::render(const std::vector<ChatTurn>& turns) {
  return writer_->write(turns, shared_->traits.context_tokens);
}

core::Result<std::vector<InputToken>> NativeLanguage::flatten(const Prompt& prompt) const {
  const auto& shape = shared_->engine->shape();
  std::vector<InputToken> out;
  std::int32_t position = 0;
  for (const auto& piece : prompt.pieces) {
    if (const auto* ids = std::get_if<std::vector<TokenId>>(&piece)) {
      for (const TokenId id : *ids) {
        if (id < 0 || id >= shape.vocabulary) {
          return core::error(core::ErrorCode::kUsage,
                             "token " + std::to_string(id) + " (allowed 0.." +
                                 std::to_string(shape.vocabulary - 1) + ")");
        }
        out.push_back({id, nullptr, 0, Position::at(position++)});
      }
      continue;
    }
    const auto& span = std::get<VisualSpanPtr>(piece);
    if (!span || span->width != shape.input_width() || span->tokens <= 0 ||
        span->embeddings.size() !=
            static_cast<std::size_t>(span->tokens) * static_cast<std::size_t>(span->width)) {
      return core::error(core::ErrorCode::kUsage,
                         "visual tokens of width " + std::to_string(span ? span->width : 0) +
                             " for a model of width " + std::to_string(shape.input_width()));
    }
    const auto placed = place_span(*span, position, shape.axes());
    for (int i = 0; i < span->tokens; ++i) {
      out.push_back({-1, span, i, placed.tokens[static_cast<std::size_t>(i)]});
    }
    position = placed.next;
  }
  if (out.empty() || out.back().span) {
    return core::error(core::ErrorCode::kUsage, "a prompt must end with text");
  }
  const int tokens = static_cast<int>(out.size());
  if (tokens >= shared_->traits.context_tokens) {
    return llama::too_long(tokens, shared_->traits.context_tokens);
  }
  return out;
}

core::Status NativeLanguage::read(const std::vector<InputToken>& tokens) {
  Wish wish;
  wish.sequence = sequence_;
  wish.tokens = tokens;
  auto logits = shared_->engine->read(wish);
  if (!logits) return logits.error();
  logits_ = std::move(*logits);
  held_.insert(held_.end(), tokens.begin(), tokens.end());
  return {};
}

core::Result<std::vector<TokenId>> NativeLanguage::tokenize(std::string_view text) {
  return writer_->tokenizer().plain(text);
}

core::Status NativeLanguage::start(const Prompt& prompt, const SamplingOptions& sampling) {
  running_ = false;
  pending_ = -1;
  if (auto status = llama::check_sampling(sampling); !status) return status;
  const auto wanted = flatten(prompt);
  if (!wanted) return wanted.error();
  // The last token is always read: its logits are needed.
  std::size_t shared = 0;
  while (shared < held_.size() && shared + 1 < wanted->size() &&
         held_[shared] == (*wanted)[shared]) {
    ++shared;
  }
  shared_->engine->keep_first(sequence_, static_cast<int>(shared));
  shared_->engine->note_reused(shared);
  held_.resize(shared);
  if (auto status = read({wanted->begin() + static_cast<std::ptrdiff_t>(shared), wanted->end()});
      !status) {
    return status;
  }
  sampling_ = sampling;
  rng_ = core::Rng(sampling.seed);
  running_ = true;
  return {};
}

void NativeLanguage::forget() {
  running_ = false;
  held_.clear();
  shared_->engine->keep_first(sequence_, 0);
}

core::Result<StepResult> NativeLanguage::step() {
  if (!running_) return core::error(core::ErrorCode::kUsage, "no answer is running");
  if (pending_ >= 0) {
    const core::Status status =
        static_cast<int>(held_.size()) >= shared_->traits.context_tokens
            ? core::Status(llama::context_full(shared_->traits.context_tokens))
            : read({{pending_, nullptr, 0, Position::at(next_position())}});
    if (!status.ok()) {
      running_ = false;
      return status.error();
    }
  }
  auto step = llama::choose_token(writer_->tokenizer(), logits_, sampling_, rng_);
  running_ = step.ok() && !step->end;
  if (running_) pending_ = step->id;
  return step;
}

// Natural log of the probability that the answer starts with `tokens`: they are read on a branch,
// so the session itself stays where it is.
core::Result<float> NativeLanguage::score(const std::vector<TokenId>& tokens) {
  const auto first = llama::log_probability(logits_, tokens.front());
  if (!first) return llama::not_finite();
  float sum = *first;
  if (tokens.size() == 1) return sum;
  const auto branch = shared_->engine->branch(sequence_);
  if (!branch) return branch.error();
  Wish wish;
  wish.sequence = *branch;
  wish.every_output = true;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const auto place = next_position() + static_cast<std::int32_t>(i);
    wish.tokens.push_back({tokens[i], nullptr, 0, Position::at(place)});
  }
  const auto logits = shared_->engine->read(wish);
  shared_->engine->close(*branch);
  if (!logits) return logits.error();
  const auto vocabulary = static_cast<std::size_t>(shared_->engine->shape().vocabulary);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const auto next = llama::log_probability(
        std::span<const float>(*logits).subspan(i * vocabulary, vocabulary), tokens[i + 1]);
    if (!next) return llama::not_finite();
    sum += *next;
  }
  return sum;
}

core::Result<std::vector<float>> NativeLanguage::score_first(
    const std::vector<std::string>& candidates) {
  if (!running_ || pending_ >= 0) {
    return core::error(core::ErrorCode::kUsage, "candidates are scored right after start");
  }
  auto tokens = llama::candidate_tokens(writer_->tokenizer(), candidates);
  if (!tokens) return tokens.error();
  const auto room = static_cast<std::size_t>(shared_->traits.context_tokens) - held_.size() + 1;
  std::vector<float> out;
  for (auto& candidate : *tokens) {
    candidate.resize(std::min(candidate.size(), room));
    const auto sum = score(candidate);
    if (!sum) return sum.error();
    out.push_back(*sum);
  }
  return llama::normalise_scores(std::move(out));
}

}  // namespace saccade::engine::native
