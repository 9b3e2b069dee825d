// Hysteresis in both directions: two thresholds and two least lengths.
#include "perceive/hear/segment_speech.h"

#include <algorithm>

namespace saccade::perceive {
namespace {

constexpr int kCandidatePause = 4;  // chunks of quiet that end an uncertain beginning
constexpr int kCutSmoothing = 2;    // chunks on each side that make up a pause at a cut

}  // namespace

int SpeechSegmenter::silence_allowed() const {
  const std::int64_t over = next_ - begin_ - options_.patience;
  const std::int64_t range = options_.length_max - options_.patience;
  if (over <= 0 || range <= 0) return options_.silence_min;
  const std::int64_t fall = options_.silence_min - options_.silence_min_late;
  return std::max(options_.silence_min_late,
                  static_cast<int>(options_.silence_min - fall * over / range));
}

void SpeechSegmenter::close_nothing() {
  candidate_ = open_ = in_pause_ = false;
  voiced_ = 0;
  history_.clear();
}

std::optional<SpeechSpan> SpeechSegmenter::close_at(std::int64_t end) {
  const SpeechSpan span{begin_, std::min(end, next_)};
  const bool was_open = open_;
  close_nothing();
  if (!was_open) return std::nullopt;
  free_ = span.end;
  return span;
}

// Splits the open segment where speech was least likely, in its second half; the rest stays open.
SpeechSpan SpeechSegmenter::cut(std::int64_t keep_until) {
  const auto size = static_cast<std::int64_t>(history_.size());
  const std::int64_t first = std::clamp(keep_until - begin_, size / 2, size - 1);
  std::int64_t best = size - 1;
  float least = 2.0F * (2 * kCutSmoothing + 1);
  for (std::int64_t i = first; i < size; ++i) {
    float sum = 0;
    for (std::int64_t j = i - kCutSmoothing; j <= i + kCutSmoothing; ++j)
      sum += history_[static_cast<std::size_t>(std::clamp<std::int64_t>(j, 0, size - 1))];
    if (sum < least) {
      least = sum;
      best = i;
    }
  }
  const SpeechSpan span{begin_, begin_ + best};
  history_.erase(history_.begin(), history_.begin() + best);
  begin_ = free_ = span.end;
  quiet_ = std::max(quiet_, begin_);
  voiced_ = static_cast<int>(std::count_if(history_.begin(), history_.end(),
                                           [&](float p) { return p >= options_.enter; }));
  if (voiced_ == 0) close_nothing();
  return span;
}

std::optional<SpeechSpan> SpeechSegmenter::push(float probability, std::int64_t keep_until) {
  const std::int64_t now = next_++;
  const bool voice = probability >= options_.enter;
  if (!candidate_ && !open_) {
    if (!voice) return std::nullopt;
    candidate_ = true;
    begin_ = std::max(free_, now - options_.padding);
    history_.assign(static_cast<std::size_t>(now - begin_), 0.0F);
  }
  history_.push_back(probability);
  if (voice) {
    in_pause_ = false;
    voiced_until_ = next_;
    if (++voiced_ >= options_.speech_min) open_ = true;
  } else if (probability < options_.leave && !in_pause_) {
    in_pause_ = true;
    quiet_ = now;
  }
  const std::int64_t pause = in_pause_ ? next_ - quiet_ : 0;
  if (!open_ && pause >= kCandidatePause) return close_at(quiet_);
  if (open_ && pause >= silence_allowed()) return close_at(quiet_ + options_.padding);
  if (open_ && next_ - begin_ >= options_.length_max) return cut(keep_until);
  // A candidate neither confirmed nor given up (hovering between the thresholds) ends here.
  if (!open_ && next_ - begin_ >= options_.length_max) return close_at(next_);
  return std::nullopt;
}

std::optional<SpeechSpan> SpeechSegmenter::finish() {
  return close_at(in_pause_ ? quiet_ + options_.padding : next_);
}

std::optional<std::int64_t> SpeechSegmenter::open_since() const {
  return open_ ? std::optional(begin_) : std::nullopt;
}

std::int64_t SpeechSegmenter::needed_since() const {
  if (candidate_ || open_) return begin_;
  return std::max(free_, next_ - options_.padding);
}

}  // namespace saccade::perceive
