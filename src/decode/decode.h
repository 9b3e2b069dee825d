#pragma once
// Lets the language model answer one Focus, token by token, or decide yes or no about it.
// Threads: one; the model's owner thread. Limits: Knobs::max_new_tokens per answer and what the
// context has left, kStopStringsMax stop strings of kStopStringBytesMax bytes.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "decode/decode_types.h"

namespace saccade::decode {

inline constexpr int kNewTokensMax = 4096;  // whatever the Knobs say

struct AnswerOptions {
  std::uint64_t answer = 0;  // number that every token of this answer carries
  engine::SamplingOptions sampling;
  std::vector<std::string> stops;  // generation ends when one is complete; emit cuts the text
};

class Decoder {
 public:
  // `model` and `clock` must outlive the decoder.
  Decoder(engine::LanguageModel& model, const core::Clock& clock)
      : model_(&model), clock_(&clock) {}

  // Gives every token of the answer to `on_token`; false from it cancels. Once the options are
  // accepted exactly one token with a finish reason comes last, also when the model fails (kError
  // with one line), so a stream goes on with its next Moment; the Status says the same. The
  // time spent is in the tokens.
  // Errors: kUsage (stop strings; no token was given), those of LanguageModel::render, start, step.
  core::Status answer(const attend::Focus& focus, const AnswerOptions& options,
                      const std::function<bool(const Token&)>& on_token);

  // Yes or no from the first word the model would say: the probability of "yes" in any usual
  // writing against that of "no". Adds to the decode stage of `focus.ledger`. Errors: as above,
  // without kUsage.
  core::Result<Verdict> judge(attend::Focus& focus);

  // Tokens of the prompt that was read last, visual ones included; 0 before the first.
  int prompt_tokens() const { return prompt_tokens_; }

 private:
  core::Status start(const attend::Focus& focus, const engine::SamplingOptions& sampling);

  engine::LanguageModel* model_;
  const core::Clock* clock_;
  int prompt_tokens_ = 0;
};

}  // namespace saccade::decode
