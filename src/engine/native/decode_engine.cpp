#include "engine/native/decode_engine.h"

#include <ggml.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace saccade::engine::native {
namespace {

core::Error no_room(int wanted, int cells) {
  return core::error(
      core::ErrorCode::kExhausted,
      "no room for " + std::to_string(wanted) + " tokens in a memory of " + std::to_string(cells),
      "end another session, or load the model with a larger context");
}

}  // namespace

DecodeEngine::DecodeEngine(std::unique_ptr<Device> device, std::unique_ptr<models::Decoder> decoder)
    : device_(std::move(device)), decoder_(std::move(decoder)), cells_(decoder_->cells()) {
  counts_.cells = decoder_->cells();
  worker_ = std::thread([this] { work(); });
}

DecodeEngine::~DecodeEngine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  worker_.join();
}

core::Result<kv::Sequence> DecodeEngine::open() {
  const std::lock_guard lock(mutex_);
  const auto sequence = cells_.open();
  if (!sequence) {
    ++counts_.refused;
    return core::error(core::ErrorCode::kExhausted,
                       "all " + std::to_string(kv::kSequencesMax) + " sequences are taken",
                       "end another session first");
  }
  ++counts_.sequences;
  return *sequence;
}

void DecodeEngine::close(kv::Sequence sequence) {
  const std::lock_guard lock(mutex_);
  cells_.close(sequence);
  --counts_.sequences;
}

core::Result<kv::Sequence> DecodeEngine::branch(kv::Sequence from) {
  const auto to = open();
  if (!to) return to;
  const std::lock_guard lock(mutex_);
  cells_.branch(from, *to);
  return to;
}

void DecodeEngine::keep_first(kv::Sequence sequence, int keep) {
  const std::lock_guard lock(mutex_);
  const auto held = cells_.cells_of(sequence);
  if (static_cast<int>(held.size()) <= keep) return;
  cells_.leave(sequence, cells_.at(held[static_cast<std::size_t>(keep)]).order);
}

LanguageUse DecodeEngine::counts() const {
  const std::lock_guard lock(mutex_);
  LanguageUse out = counts_;
  out.cells_used = cells_.used();
  return out;
}

void DecodeEngine::note_reused(std::size_t tokens) {
  const std::lock_guard lock(mutex_);
  counts_.reused += tokens;
}

core::Result<std::vector<float>> DecodeEngine::read(const Wish& wish) {
  if (wish.tokens.empty()) return core::error(core::ErrorCode::kUsage, "nothing to read");
  Waiting waiting{};
  waiting.wish = &wish;
  std::unique_lock lock(mutex_);
  if (stopping_) return core::error(core::ErrorCode::kCancelled, "the engine is closing");
  if (static_cast<int>(waiting_.size()) >= kWishesMax) {
    ++counts_.refused;
    return core::error(core::ErrorCode::kExhausted,
                       std::to_string(kWishesMax) + " wishes are waiting already", "try later");
  }
  waiting_.push_back(&waiting);
  arrived_.notify_one();
  waiting.ready.wait(lock, [&] { return waiting.finished; });
  if (!waiting.status.ok()) return waiting.status.error();
  return std::move(waiting.logits);
}

// Caller holds the lock.
void DecodeEngine::finish(Waiting& waiting, core::Status status) {
  if (!status.ok() && waiting.first_order >= 0) {
    cells_.leave(waiting.wish->sequence, waiting.first_order);
  }
  waiting.status = std::move(status);
  waiting.finished = true;
  waiting_.remove(&waiting);
  waiting.ready.notify_one();
}

bool DecodeEngine::wants(const Waiting& waiting, std::size_t token) const {
  return waiting.wish->every_output || token + 1 == waiting.wish->tokens.size();
}

// Short wishes in order of arrival, then the long ones with what is left of the step.
std::vector<DecodeEngine::Taken> DecodeEngine::plan() {
  std::vector<Taken> out;
  std::size_t budget = kStepTokens;
  for (const bool is_short : {true, false}) {
    for (Waiting* waiting : waiting_) {
      const std::size_t left = waiting->wish->tokens.size() - waiting->done;
      if ((left <= kShortTokens) != is_short) continue;
      const std::size_t count = std::min(left, budget);
      if (count == 0) return out;
      out.push_back({waiting, waiting->done, count, {}});
      budget -= count;
    }
  }
  return out;
}

// Cells for every part; parts that find none are left out and, when nobody else could make room,
// refused. False when nothing is left to run.
bool DecodeEngine::reserve(std::vector<Taken>& taken) {
  int wanted = 0;
  for (const auto& part : taken) wanted += static_cast<int>(part.count);
  while (!taken.empty()) {
    const auto cells = cells_.reserve(wanted);
    if (cells) {
      auto next = cells->begin();
      for (auto& part : taken) {
        part.cells.assign(next, next + static_cast<std::ptrdiff_t>(part.count));
        next += static_cast<std::ptrdiff_t>(part.count);
      }
      return true;
    }
    // The last one gives way: it is the longest or the latest.
    Taken last = std::move(taken.back());
    taken.pop_back();
    wanted -= static_cast<int>(last.count);
    if (taken.empty()) {
      ++counts_.refused;
      finish(*last.waiting, no_room(static_cast<int>(last.count), cells_.size()));
    }
  }
  return false;
}

// Caller holds the lock: the cells' members are read.
void DecodeEngine::fill_mask(const std::vector<Taken>& taken, models::Step& step) const {
  const auto hidden = ggml_fp32_to_fp16(-std::numeric_limits<float>::infinity());
  const auto shown = ggml_fp32_to_fp16(0.0F);
  const auto span = static_cast<std::size_t>(step.span);
  step.mask.assign(static_cast<std::size_t>(step.tokens()) * span, hidden);
  std::size_t row = 0;
  for (const auto& part : taken) {
    const kv::Sequence sequence = part.waiting->wish->sequence;
    // The first row; each next one sees one new cell more.
    auto* first = step.mask.data() + row * span;
    for (int cell = 0; cell < std::min(step.span, cells_.size()); ++cell) {
      if (cells_.holds(sequence, cell)) first[cell] = shown;
    }
    first[part.cells[0]] = shown;
    for (std::size_t i = 1; i < part.count; ++i) {
      std::copy_n(first + (i - 1) * span, span, first + i * span);
      first[i * span + static_cast<std::size_t>(part.cells[i])] = shown;
    }
    row += part.count;
  }
}

models::Step DecodeEngine::lay_out(const std::vector<Taken>& taken) const {
  models::Step step;
  const auto width = static_cast<std::size_t>(decoder_->shape().input_width());
  int last = cells_.end();
  for (const auto& part : taken) {
    const Wish& wish = *part.waiting->wish;
    last = std::max(last, *std::max_element(part.cells.begin(), part.cells.end()) + 1);
    for (std::size_t i = 0; i < part.count; ++i) {
      const std::size_t at = part.first + i;
      const InputToken& token = wish.tokens[at];
      step.inputs.resize(step.inputs.size() + width);
      float* to = step.inputs.data() + step.inputs.size() - width;
      if (token.span) {
        std::copy_n(token.span->embeddings.data() + static_cast<std::size_t>(token.index) * width,
                    width, to);
      } else {
        decoder_->embed(token.id, to);
      }
      if (wants(*part.waiting, at)) step.outputs.push_back(step.tokens());
      step.positions.push_back(token.position);
      step.cells.push_back(part.cells[i]);
    }
  }
  constexpr int kStep = models::Decoder::kSpanStep;
  step.span = std::min((last + kStep - 1) / kStep * kStep, decoder_->cells());
  fill_mask(taken, step);
  return step;
}

void DecodeEngine::commit(const std::vector<Taken>& taken,
                          const core::Result<std::span<const float>>& logits) {
  const auto vocabulary = static_cast<std::size_t>(decoder_->shape().vocabulary);
  std::size_t row = 0;
  ++counts_.steps;
  for (const auto& part : taken) {
    Waiting& waiting = *part.waiting;
    if (!logits) {
      finish(waiting, logits.error());
      continue;
    }
    for (std::size_t i = 0; i < part.count; ++i) {
      const std::size_t at = part.first + i;
      const auto order =
          cells_.take(part.cells[i], waiting.wish->sequence, waiting.wish->tokens[at].position);
      if (waiting.first_order < 0) waiting.first_order = order;
      if (!wants(waiting, at)) continue;
      const auto from = logits->begin() + static_cast<std::ptrdiff_t>(row++ * vocabulary);
      waiting.logits.insert(waiting.logits.end(), from,
                            from + static_cast<std::ptrdiff_t>(vocabulary));
    }
    counts_.tokens += part.count;
    waiting.done += part.count;
    if (waiting.done == waiting.wish->tokens.size()) finish(waiting, {});
  }
}

void DecodeEngine::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    const std::vector<Waiting*> all(waiting_.begin(), waiting_.end());
    for (Waiting* waiting : all) {
      const auto& flag = waiting->wish->cancelled;
      if (!stopping_ && !(flag && flag->load())) continue;
      ++counts_.cancelled;
      finish(*waiting, core::error(core::ErrorCode::kCancelled, "reading was stopped"));
    }
    if (stopping_) return;
    auto taken = plan();
    if (taken.empty() || !reserve(taken)) continue;
    const auto step = lay_out(taken);
    lock.unlock();
    const auto logits = decoder_->run(step);
    lock.lock();
    commit(taken, logits);
  }
}

}  // namespace saccade::engine::native
