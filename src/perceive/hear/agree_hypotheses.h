#pragma once
// Partial results that do not flicker. LocalAgreement-2 (Macháček, Dabre, Bojar: "Turning Whisper
// into Real-Time Transcription System", 2023): words that two consecutive hypotheses share at
// their beginning are committed and stay; the rest is tentative. Pure.
#include <cstddef>
#include <vector>

#include "engine/speech_model.h"

namespace saccade::perceive {

// One utterance's hypotheses. All times are seconds on one axis, whatever part of the utterance a
// hypothesis covers. Words are the same when their letters and digits are; case and punctuation do
// not count. Memory: the words of one utterance.
class Agreement {
 public:
  using Words = std::vector<engine::HeardWord>;

  // The next hypothesis; it may begin anywhere inside the committed words.
  void add(const Words& hypothesis);
  // The last hypothesis: committed words, then what it has beyond them. When it repeats all of
  // them, its spelling and times are taken.
  Words finish(const Words& hypothesis) const;
  void clear();

  const Words& committed() const { return committed_; }
  const Words& tentative() const { return tentative_; }

 private:
  // Index of the first word of `hypothesis` beyond the committed ones.
  std::size_t beyond_committed(const Words& hypothesis) const;

  Words committed_, tentative_;
};

}  // namespace saccade::perceive
