#include "engine/llama/llama_language.h"

#include <llama.h>
#include <mtmd-helper.h>
#include <mtmd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "engine/llama/backend.h"
#include "engine/llama/choose_token.h"
#include "engine/llama/sample.h"

namespace saccade::engine::llama {
namespace {

core::Error internal(const std::string& what) {
  const std::string complaint = take_last_complaint();
  return core::error(core::ErrorCode::kInternal,
                     what + (complaint.empty() ? "" : ": " + complaint));
}

core::Status status_of(int code, const char* what) {
  if (code == 0) return {};
  if (code == 1) {
    return core::error(core::ErrorCode::kExhausted, "no room in the context for more tokens",
                       "load the model with a larger context");
  }
  return internal(std::string(what) + " failed with " + std::to_string(code));
}

}  // namespace

struct LlamaLanguage::Parts {
  WeightsPtr weights;
  std::unique_ptr<PromptWriter> writer;
  ContextPtr context;
};

core::Result<std::unique_ptr<LanguageModel>> LlamaLanguage::create(WeightsPtr weights,
                                                                   const LanguageOptions& options) {
  const auto tokens =
      context_tokens(llama_model_n_ctx_train(weights->model.get()), options.context_tokens);
  if (!tokens) return tokens.error();
  auto writer = PromptWriter::create(weights->model.get());
  if (!writer) return writer.error();

  auto params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(*tokens);
  params.n_batch = std::min<std::uint32_t>(params.n_ctx, kBatchTokensMax);
  params.n_ubatch = params.n_batch;
  params.n_seq_max = 1;
  params.n_threads = options.threads;
  params.n_threads_batch = options.threads;
  params.no_perf = true;
  params.swa_full = true;  // a windowed cache could not be rewound to a shared prefix
  ContextPtr context(llama_init_from_model(weights->model.get(), params));
  if (!context) {
    return core::error(
        core::ErrorCode::kModelUnusable,
        "no context of " + std::to_string(params.n_ctx) + " tokens: " + take_last_complaint(),
        "free memory or ask for a smaller context");
  }
  return std::unique_ptr<LanguageModel>(std::make_unique<LlamaLanguage>(
      Parts{std::move(weights), std::move(*writer), std::move(context)}));
}

LlamaLanguage::LlamaLanguage(Parts parts)
    : weights_(std::move(parts.weights)),
      writer_(std::move(parts.writer)),
      tokenizer_(writer_->tokenizer()),
      context_(std::move(parts.context)),
      batch_(llama_batch_ext_init(context_.get())) {
  const llama_model* model = weights_->model.get();
  traits_.name = meta(model, "general.name");
  traits_.context_tokens = static_cast<int>(llama_n_ctx(context_.get()));
  traits_.vision = weights_->mtmd != nullptr;
  traits_.wants_context = meta(model, "saccade.context_lines") != "false";
}

core::Result<Prompt> LlamaLanguage::render(const std::vector<ChatTurn>& turns) {
  return writer_->write(turns, traits_.context_tokens);
}

core::Status LlamaLanguage::check(const PromptPiece& piece) const {
  if (const auto* tokens = std::get_if<std::vector<TokenId>>(&piece)) {
    for (const TokenId id : *tokens) {
      if (id < 0 || id >= tokenizer_.size()) {
        return core::error(core::ErrorCode::kUsage,
                           "token " + std::to_string(id) + " (allowed 0.." +
                               std::to_string(tokenizer_.size() - 1) + ")");
      }
    }
    return {};
  }
  const auto& span = std::get<VisualSpanPtr>(piece);
  if (span && !span->kept.empty()) {
    return core::error(core::ErrorCode::kUnsupported,
                       "libllama reads pictures whole, this one was reduced to " +
                           std::to_string(span->tokens) + " tokens",
                       "use the native engine");
  }
  const int width = llama_model_n_embd_inp(weights_->model.get());
  if (!span || !span->native || !weights_->mtmd) {
    return core::error(core::ErrorCode::kUsage, "a picture for a model without its encoder");
  }
  const auto* chunk = static_cast<const mtmd_input_chunk*>(span->native.get());
  if (span->width != width || span->tokens <= 0 ||
      span->embeddings.size() !=
          static_cast<std::size_t>(span->tokens) * static_cast<std::size_t>(width) ||
      mtmd_input_chunk_get_n_tokens(chunk) != static_cast<std::size_t>(span->tokens)) {
    return core::error(core::ErrorCode::kUsage,
                       "visual tokens of width " + std::to_string(span->width) +
                           " for a model of width " + std::to_string(width));
  }
  if (mtmd_decode_use_non_causal(weights_->mtmd.get(), chunk) && span->tokens > kBatchTokensMax) {
    return core::error(core::ErrorCode::kExhausted,
                       "a picture of " + std::to_string(span->tokens) + " tokens (at most " +
                           std::to_string(kBatchTokensMax) + " for this family)",
                       "send a smaller picture");
  }
  return {};
}

core::Result<std::vector<LlamaLanguage::Batch>> LlamaLanguage::plan(const Prompt& prompt) const {
  std::vector<Batch> out;
  int tokens = 0;
  for (const auto& piece : prompt.pieces) {
    if (auto status = check(piece); !status) return status.error();
    const auto* ids = std::get_if<std::vector<TokenId>>(&piece);
    if (ids == nullptr) {
      const auto& span = std::get<VisualSpanPtr>(piece);
      tokens += span->tokens;
      out.push_back({span, 0, 0, span->tokens});
      continue;
    }
    for (std::size_t i = 0; i < ids->size(); i += kReuseBlockTokens) {
      const auto end = std::min<std::size_t>(ids->size(), i + kReuseBlockTokens);
      out.push_back({std::vector<TokenId>(ids->begin() + static_cast<std::ptrdiff_t>(i),
                                          ids->begin() + static_cast<std::ptrdiff_t>(end)),
                     0, 0, static_cast<int>(end - i)});
    }
    tokens += static_cast<int>(ids->size());
  }
  if (out.empty() || std::holds_alternative<VisualSpanPtr>(out.back().piece)) {
    return core::error(core::ErrorCode::kUsage, "a prompt must end with text");
  }
  if (tokens >= traits_.context_tokens) return too_long(tokens, traits_.context_tokens);
  return out;
}

// Drops everything behind the first `keep` batches of the prompt in memory.
core::Status LlamaLanguage::rewind(std::size_t keep) {
  llama_memory_t memory = llama_get_memory(context_.get());
  position_ = keep == 0 ? 0 : read_[keep - 1].next_position;
  if (keep == 0 || !llama_memory_seq_rm(memory, 0, position_, -1)) {
    llama_memory_clear(memory, false);
    keep = 0;
    position_ = 0;
  }
  read_.resize(keep);
  used_ = 0;
  for (const auto& batch : read_) used_ += batch.tokens;
  return {};
}

core::Status LlamaLanguage::read_tokens(const std::vector<TokenId>& tokens, int position,
                                        bool last) {
  llama_batch_ext_clear(batch_.get());
  int index = -1;
  for (const TokenId id : tokens) {
    index = llama_batch_ext_add_token(batch_.get(), 0, id);
    if (index < 0) return internal("batch");
    const llama_pos at = position++;
    llama_batch_ext_set_pos(batch_.get(), index, &at);
  }
  if (last) llama_batch_ext_set_output_logits(batch_.get(), index, true);
  try {
    return status_of(llama_process(context_.get(), LLAMA_PROCESS_TYPE_DECODE, batch_.get()),
                     "reading text");
  } catch (const std::exception& e) {
    return internal(e.what());
  }
}

core::Status LlamaLanguage::read_span(const VisualSpan& span, Batch& batch) {
  llama_pos next = batch.position;
  try {
    // The helper takes a mutable pointer but only reads.
    const int code = mtmd_helper_decode_image_chunk(
        weights_->mtmd.get(), context_.get(),
        static_cast<const mtmd_input_chunk*>(span.native.get()),
        const_cast<float*>(span.embeddings.data()), batch.position, 0,
        static_cast<std::int32_t>(llama_n_batch(context_.get())), &next, nullptr, nullptr);
    batch.next_position = next;
    return status_of(code, "reading a picture");
  } catch (const std::exception& e) {
    return internal(e.what());
  }
}

core::Status LlamaLanguage::read(Batch& batch, bool last) {
  batch.position = position_;
  core::Status status;
  if (const auto* tokens = std::get_if<std::vector<TokenId>>(&batch.piece)) {
    status = read_tokens(*tokens, position_, last);
    batch.next_position = position_ + batch.tokens;
  } else {
    status = read_span(*std::get<VisualSpanPtr>(batch.piece), batch);
  }
  position_ = batch.next_position;
  used_ += batch.tokens;
  return status;
}

core::Status LlamaLanguage::keep_logits() {
  const float* logits = llama_get_logits_ith(context_.get(), -1);
  if (logits == nullptr) return internal("no logits");
  logits_.assign(logits, logits + tokenizer_.size());
  return {};
}

core::Status LlamaLanguage::start(const Prompt& prompt, const SamplingOptions& sampling) {
  running_ = false;
  pending_ = -1;
  if (auto status = check_sampling(sampling); !status) return status;
  auto batches = plan(prompt);
  if (!batches) return batches.error();
  std::size_t shared = 0;
  while (shared < read_.size() && shared + 1 < batches->size() &&
         read_[shared].piece == (*batches)[shared].piece) {
    ++shared;
  }
  core::Status status = rewind(shared);
  for (std::size_t i = read_.size(); status.ok() && i < batches->size(); ++i) {
    status = read((*batches)[i], i + 1 == batches->size());
    read_.push_back(std::move((*batches)[i]));
  }
  if (status.ok()) status = keep_logits();
  if (!status.ok()) {
    const core::Status cleared = rewind(0);
    return cleared.ok() ? status : cleared;
  }
  sampling_ = sampling;
  rng_ = core::Rng(sampling.seed);
  running_ = true;
  return {};
}

void LlamaLanguage::forget() {
  running_ = false;
  (void)rewind(0);
}

core::Result<StepResult> LlamaLanguage::step() {
  if (!running_) return core::error(core::ErrorCode::kUsage, "no answer is running");
  if (pending_ >= 0) {
    if (used_ + 1 > traits_.context_tokens) {
      running_ = false;
      return context_full(traits_.context_tokens);
    }
    auto status = read_tokens({pending_}, position_, true);
    if (status.ok()) status = keep_logits();
    if (!status.ok()) {
      running_ = false;
      return status.error();
    }
    ++position_;
    ++used_;
  }
  auto step = choose_token(tokenizer_, logits_, sampling_, rng_);
  running_ = step.ok() && !step->end;
  if (running_) pending_ = step->id;
  return step;
}

// Natural log of the probability that the answer starts with `tokens`. Reads all but the last of
// them and forgets them again; logits_ stays what it was.
core::Result<float> LlamaLanguage::score(const std::vector<TokenId>& tokens) {
  const std::vector<float> first = logits_;
  float sum = 0;
  core::Status status;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto logprob = log_probability(logits_, tokens[i]);
    if (!logprob) {
      status = not_finite();
      break;
    }
    sum += *logprob;
    if (i + 1 == tokens.size() || used_ + static_cast<int>(i) + 1 > traits_.context_tokens) break;
    status = read_tokens({tokens[i]}, position_ + static_cast<int>(i), true);
    if (status.ok()) status = keep_logits();
    if (!status.ok()) break;
  }
  logits_ = first;
  if (tokens.size() > 1 &&
      !llama_memory_seq_rm(llama_get_memory(context_.get()), 0, position_, -1)) {
    running_ = false;
    return core::error(core::ErrorCode::kUnsupported, "this model cannot take back what it read",
                       "use another model for alerts");
  }
  if (!status.ok()) return status.error();
  return sum;
}

core::Result<std::vector<float>> LlamaLanguage::score_first(
    const std::vector<std::string>& candidates) {
  if (!running_ || pending_ >= 0) {
    return core::error(core::ErrorCode::kUsage, "candidates are scored right after start");
  }
  const auto tokens = candidate_tokens(tokenizer_, candidates);
  if (!tokens) return tokens.error();
  std::vector<float> out;
  for (const auto& candidate : *tokens) {
    const auto sum = score(candidate);
    if (!sum) return sum.error();
    out.push_back(*sum);
  }
  return normalise_scores(std::move(out));
}

}  // namespace saccade::engine::llama
