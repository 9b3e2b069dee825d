#pragma once
// Continuous batching: one thread owns the device and runs the wishes of all sessions together.
// Plan, reserve, run, commit: a step takes the next tokens of every waiting session (short wishes
// whole, long ones in chunks, so a long prompt never holds up a running answer), reserves cells,
// computes once, and only then changes anybody's state. A wish that fails or is cancelled leaves
// its sequence as it was. Threads: any number of callers; each waits for its own wish.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/result.h"
#include "engine/kv/cells.h"
#include "engine/language_model.h"
#include "engine/models/decoder.h"
#include "engine/vision_encoder.h"

namespace saccade::engine::native {

// One token to read: a word of the vocabulary or one row of a visual span.
struct InputToken {
  TokenId id = -1;
  VisualSpanPtr span;  // when set, row `index` of it
  int index = 0;
  Position position;  // left-out tokens leave gaps
  bool operator==(const InputToken&) const = default;
};

// What a session wants read into its sequence.
struct Wish {
  kv::Sequence sequence = 0;
  std::vector<InputToken> tokens;
  bool every_output = false;  // logits after each token, else after the last only
  std::shared_ptr<const std::atomic<bool>> cancelled;  // looked at between steps; may be null
};

class DecodeEngine {
 public:
  static constexpr int kStepTokens = 256;  // read per step, of all sessions together
  static constexpr int kShortTokens = 16;  // wishes up to this go first
  static constexpr int kWishesMax = 256;   // waiting at once; more are refused with kExhausted

  DecodeEngine(std::unique_ptr<Device> device, std::unique_ptr<models::Decoder> decoder);
  ~DecodeEngine();  // callers must have left

  const models::DecoderShape& shape() const { return decoder_->shape(); }
  int cells() const { return decoder_->cells(); }

  // A new empty sequence. Errors: kExhausted (kSequencesMax).
  core::Result<kv::Sequence> open();
  void close(kv::Sequence sequence);
  // A new sequence that sees what `from` has read. Errors: kExhausted.
  core::Result<kv::Sequence> branch(kv::Sequence from);
  // Forgets all but the first `keep` tokens of a sequence.
  void keep_first(kv::Sequence sequence, int keep);

  // Logits F32 [outputs][vocabulary]. Errors: kExhausted (no room, too many wishes), kCancelled,
  // kInternal.
  core::Result<std::vector<float>> read(const Wish& wish);

  LanguageUse counts() const;
  // Tokens of a prompt that a session held already.
  void note_reused(std::size_t tokens);

 private:
  struct Waiting {
    const Wish* wish;
    std::size_t done = 0;  // tokens read
    std::int64_t first_order = -1;
    std::vector<float> logits;
    core::Status status;
    bool finished = false;
    std::condition_variable ready;
  };
  struct Taken {
    Waiting* waiting;
    std::size_t first = 0, count = 0;
    std::vector<int> cells;
  };

  void work();
  std::vector<Taken> plan();
  bool reserve(std::vector<Taken>& taken);
  models::Step lay_out(const std::vector<Taken>& taken) const;
  void fill_mask(const std::vector<Taken>& taken, models::Step& step) const;
  void commit(const std::vector<Taken>& taken, const core::Result<std::span<const float>>& logits);
  void finish(Waiting& waiting, core::Status status);
  bool wants(const Waiting& waiting, std::size_t token) const;

  const std::unique_ptr<Device> device_;
  const std::unique_ptr<models::Decoder> decoder_;
  mutable std::mutex mutex_;  // everything below
  std::condition_variable arrived_;
  kv::Cells cells_;
  std::list<Waiting*> waiting_;
  LanguageUse counts_;
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace saccade::engine::native
