#pragma once
// From voice probabilities to stretches of speech. Pure: counts chunks, knows no sound and no time.
#include <cstdint>
#include <deque>
#include <optional>

namespace saccade::perceive {

// Lengths are in chunks of 32 ms.
struct SegmentOptions {
  float enter = 0.5F;        // speech begins at this probability ...
  float leave = 0.35F;       // ... and pauses below this one
  int speech_min = 6;        // 0.2 s: shorter is a click, not a word
  int silence_min = 19;      // 0.6 s: the pause that ends a segment
  int padding = 8;           // 0.25 s kept before and after: soft first and last consonants
  int patience = 375;        // 12 s: from here on shorter pauses end a segment, down to ...
  int silence_min_late = 5;  // ... 0.16 s at length_max
  int length_max = 28 * 31;  // just under 28 s; then it is cut at the best pause
  bool operator==(const SegmentOptions&) const = default;
};

// Half-open range of chunks, counted from the first push.
struct SpeechSpan {
  std::int64_t begin = 0, end = 0;
  bool operator==(const SpeechSpan&) const = default;
};

// Spans come in order and never overlap. Memory: one number per chunk of the open segment, at most
// `length_max`.
class SpeechSegmenter {
 public:
  explicit SpeechSegmenter(SegmentOptions options = {}) : options_(options) {}

  // The next chunk's probability; a segment when this chunk ends one. `keep_until`: a cut for
  // length lies at or after this chunk if it can (words up to there are already published).
  std::optional<SpeechSpan> push(float probability, std::int64_t keep_until = 0);
  // No more sound: the open segment, if there is one.
  std::optional<SpeechSpan> finish();

  // Begin of the open segment, padding included; nothing in silence or before speech is certain.
  std::optional<std::int64_t> open_since() const;
  // Chunks before this one belong to no future segment.
  std::int64_t needed_since() const;
  // End of the last chunk with speech in it.
  std::int64_t voiced_until() const { return voiced_until_; }

 private:
  void close_nothing();
  std::optional<SpeechSpan> close_at(std::int64_t end);
  SpeechSpan cut(std::int64_t keep_until);
  int silence_allowed() const;

  SegmentOptions options_;
  std::int64_t next_ = 0;   // number of the chunk to come
  std::int64_t free_ = 0;   // end of the last segment: the next one begins here or later
  std::int64_t begin_ = 0;  // of the candidate or open segment, padding included
  std::int64_t voiced_until_ = 0;
  std::int64_t quiet_ = 0;  // first chunk of the running pause; valid while in_pause_
  int voiced_ = 0;          // chunks of speech in the candidate
  bool candidate_ = false, open_ = false, in_pause_ = false;
  std::deque<float> history_;  // probabilities since begin_ of an open segment
};

}  // namespace saccade::perceive
