#pragma once
// The ear's interface: up to 30 s of sound in, words with times out. One owner thread per model.
#include <string>
#include <vector>

#include "core/result.h"

namespace saccade::engine {

struct HeardWord {
  std::string text;           // with its leading space when it begins a word
  double start = 0, end = 0;  // seconds from the start of the samples
  float probability = 0;      // 0..1
};

class SpeechModel {
 public:
  virtual ~SpeechModel() = default;
  // `samples` [n], 16 kHz mono. `context` is text that came before and may steer spelling; it is
  // never repeated in the result. Errors: kNumeric, kInternal, kUsage (longer than 30 s).
  virtual core::Result<std::vector<HeardWord>> transcribe(const std::vector<float>& samples,
                                                          const std::string& context) = 0;
};

}  // namespace saccade::engine
