#pragma once
// The voice's interface: a prompt of text and visual tokens in, one token after the other out.
// One owner thread per model.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"
#include "engine/vision_encoder.h"

namespace saccade::engine {

// A conversation before it is a prompt. Text is content: control tokens inside it stay plain text.
struct ChatPart {
  std::variant<std::string, EncodedViewPtr> content;
};
struct ChatTurn {
  enum class Role { kSystem, kUser, kAssistant };
  Role role = Role::kUser;
  std::vector<ChatPart> parts;
};

// What the language model reads, in order.
using PromptPiece = std::variant<std::vector<TokenId>, VisualSpanPtr>;
struct Prompt {
  std::vector<PromptPiece> pieces;
  int tokens = 0;  // visual tokens included
};

inline constexpr int kAlternativesMax = 20;

struct SamplingOptions {
  float temperature = 0.0F;  // 0 = greedy
  float top_p = 1.0F;        // (0, 1]
  float min_p = 0.0F;        // [0, 1)
  std::uint64_t seed = 0;    // of the sampler; the same seed gives the same text
  // The most probable tokens to tell with each step, at most kAlternativesMax.
  int alternatives = 0;
};

// A token that might have been chosen.
struct Alternative {
  std::string bytes;
  float logprob = 0;  // natural log
};

// One step of an answer.
struct StepResult {
  TokenId id = 0;
  std::string bytes;                      // may be part of a character; empty for control tokens
  float logprob = 0;                      // natural log, of the chosen token
  float entropy = 0;                      // bit, of the distribution it was chosen from
  bool end = false;                       // end of answer; bytes are empty
  std::vector<Alternative> alternatives;  // best first, as many as were asked for
};

struct LanguageTraits {
  std::string name;
  int context_tokens = 0;
  bool vision = false;         // a vision encoder belongs to it
  bool reduced_spans = false;  // reads spans of which some tokens were left out
  bool wants_context = true;   // OCR and speech lines help it (GGUF key saccade.context_lines)
};

// What all sessions of one model have done since it was loaded, and hold now.
struct LanguageUse {
  std::uint64_t steps = 0;   // of the graph
  std::uint64_t tokens = 0;  // read in them
  std::uint64_t reused = 0;  // of prompts, not read again
  std::uint64_t cancelled = 0, refused = 0;
  int cells_used = 0, cells = 0;  // of the key-value memory
  int sequences = 0;
};

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;
  virtual const LanguageTraits& traits() const = 0;
  // Threads: any. All 0 where the engine does not count.
  virtual LanguageUse use() const { return {}; }

  // Renders the chat template of the GGUF. Template text is tokenised with control tokens, content
  // without. Errors: kModelUnusable (template), kExhausted (longer than the context, with counts).
  virtual core::Result<Prompt> render(const std::vector<ChatTurn>& turns) = 0;

  // Content as tokens, without the template. Threads: any. Errors: kUnsupported.
  virtual core::Result<std::vector<TokenId>> tokenize(std::string_view) {
    return core::error(core::ErrorCode::kUnsupported, "this model does not show its tokens");
  }

  // Forgets the running answer and reads `prompt`; the part it shares with the prompt before may be
  // reused. Errors: kExhausted, kNumeric, kInternal.
  virtual core::Status start(const Prompt& prompt, const SamplingOptions& sampling) = 0;
  // Drops what earlier prompts left in memory, so that nothing of it is reused. Ends the answer.
  virtual void forget() {}
  // The next token of the running answer. Errors: kExhausted (context full), kNumeric (NaN logits).
  virtual core::Result<StepResult> step() = 0;

  // Natural-log probabilities that the answer begins with each candidate, right after `start`,
  // normalised over the candidates; longer ones count up to a limit, so candidates with the same
  // first token are told apart. Used for yes/no alerts. Errors: kUsage (no candidates, or too
  // late), kNumeric, kUnsupported (a model that cannot take back what it read).
  virtual core::Result<std::vector<float>> score_first(
      const std::vector<std::string>& candidates) = 0;

  // Another session on the same weights, whose steps are computed together with this one's.
  // Errors: kUnsupported (an engine of one session), kExhausted.
  virtual core::Result<std::unique_ptr<LanguageModel>> another() {
    return core::error(core::ErrorCode::kUnsupported, "this engine holds one session",
                       "use the native engine");
  }
};

}  // namespace saccade::engine
