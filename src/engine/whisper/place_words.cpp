// Alignment by attention says well when a word ends and badly where a pause belongs, so pauses are
// cut away by loudness.
#include "engine/whisper/place_words.h"

#include <algorithm>
#include <cmath>

#include "core/limits.h"

namespace saccade::engine {
namespace {

constexpr std::size_t kLevelSamples = 160;   // 10 ms per level
constexpr double kLevelSeconds = 0.01;       // the same
constexpr std::size_t kNearLevels = 10;      // short words may lie beside their sound
constexpr float kQuietShare = 0.06F;         // of the clip's loud level: -24 dB
constexpr float kQuietLevelMin = 1e-4F;      // digital silence and dither
constexpr double kWordSecondsMin = 0.04;     // shorter is no word
constexpr std::size_t kLoopPeriodMax = 16;   // tokens
constexpr std::size_t kLoopShortPeriod = 3;  // "no, no, no" and "bye bye, bye bye" are speech:
constexpr std::size_t kLoopCopiesOfOne = 8;  // so many copies of one token are a loop,
constexpr std::size_t kLoopCopiesShort = 4;  // so many of a short period,
constexpr std::size_t kLoopCopies = 3;       // and so many of a longer one

// Bytes of the UTF-8 character at `at`, 0 when there is none.
std::size_t character_bytes(const std::string& text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = lead < 0x80                    ? 1
                            : lead >= 0xC2 && lead <= 0xDF ? 2
                            : lead >= 0xE0 && lead <= 0xEF ? 3
                            : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                           : 0;
  if (bytes == 0 || at + bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return 0;
  const auto second = bytes > 2 ? static_cast<unsigned char>(text[at + 1]) : 0x80;
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool too_large = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_large ? 0 : bytes;
}

std::string whole_characters(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    out.append(text, at, bytes);
    at += std::max<std::size_t>(bytes, 1);
  }
  return out;
}

// Letters and digits of any script. ASCII punctuation is none, nor are typographic marks and
// symbols such as the note that stands for music (U+2000 to U+2FFF, lead byte E2).
bool is_spoken(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t bytes = character_bytes(text, at);
    if (lead >= '0' && lead <= '9') return true;
    if ((lead | 0x20) >= 'a' && (lead | 0x20) <= 'z') return true;
    if (lead >= 0x80 && lead != 0xE2) return true;  // or half of a character
    at += std::max<std::size_t>(bytes, 1);
    while (bytes == 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
      ++at;
  }
  return false;
}

// Where a clip is loud, in steps of 10 ms.
class Loudness {
 public:
  explicit Loudness(const std::vector<float>& samples) {
    for (std::size_t at = 0; at < samples.size(); at += kLevelSamples) {
      const std::size_t end = std::min(at + kLevelSamples, samples.size());
      double sum = 0;
      for (std::size_t i = at; i < end; ++i) sum += static_cast<double>(samples[i]) * samples[i];
      level_.push_back(static_cast<float>(std::sqrt(sum / static_cast<double>(end - at))));
    }
    std::vector<float> sorted = level_;
    std::sort(sorted.begin(), sorted.end());
    const float loud = sorted.empty() ? 0.0F : sorted[sorted.size() * 95 / 100];
    quiet_ = std::max(kQuietLevelMin, loud * kQuietShare);
  }

  // Makes [start, end) the part without quiet edges; leaves it when all of it is quiet. False when
  // there is no sound at all, nor near it.
  bool narrow(double& start, double& end) const {
    const auto index = [&](double seconds) {
      return std::min(static_cast<std::size_t>(std::max(0.0, seconds / kLevelSeconds)),
                      level_.size());
    };
    std::size_t first = index(start), last = index(end);
    const std::size_t begin = first, stop = last;
    const std::size_t slack = last - first < kNearLevels ? kNearLevels : 0;
    const std::size_t near = first - std::min(first, slack);
    const std::size_t far = std::min(last + slack, level_.size());
    const bool sound = std::any_of(level_.begin() + static_cast<std::ptrdiff_t>(near),
                                   level_.begin() + static_cast<std::ptrdiff_t>(far),
                                   [](float level) { return level >= kQuietLevelMin; });
    while (first < last && level_[first] < quiet_) ++first;
    while (last > first && level_[last - 1] < quiet_) --last;
    if (first >= last) return sound;
    if (first > begin) start = static_cast<double>(first) * kLevelSeconds;
    if (last < stop) end = static_cast<double>(last) * kLevelSeconds;
    return sound;
  }

 private:
  std::vector<float> level_;
  float quiet_ = 0;
};

// How many tokens at the end equal the token `period` before them.
std::size_t repeated_tail(const std::vector<std::int32_t>& tokens, std::size_t period) {
  std::size_t same = 0;
  while (same + period < tokens.size() &&
         tokens[tokens.size() - 1 - same] == tokens[tokens.size() - 1 - same - period])
    ++same;
  return same;
}

}  // namespace

std::vector<HeardWord> place_words(const std::vector<HeardToken>& tokens,
                                   const std::vector<float>& samples) {
  const double seconds = static_cast<double>(samples.size()) / core::limits::kAudioRate;
  std::vector<HeardWord> words;
  double end_before = 0, log_sum = 0;
  std::size_t spoken = 0;  // tokens of the last word that count for its probability
  for (const HeardToken& token : tokens) {
    if (words.empty() || (!token.bytes.empty() && token.bytes.front() == ' ')) {
      words.push_back({.text = {}, .start = end_before, .end = end_before, .probability = 0});
      log_sum = 0;
      spoken = 0;
    }
    HeardWord& word = words.back();
    word.text += token.bytes;
    if (!is_spoken(token.bytes)) continue;
    log_sum += std::log(std::max(token.probability, 1e-9F));
    word.probability = static_cast<float>(std::exp(log_sum / static_cast<double>(++spoken)));
    word.end = end_before = std::clamp(token.end, end_before, std::max(end_before, seconds));
  }
  const Loudness loudness(samples);
  double earliest = 0;
  for (HeardWord& word : words) {
    word.text = whole_characters(word.text);
    if (!loudness.narrow(word.start, word.end)) word.text.clear();
    word.start = std::max(word.start, earliest);
    word.end =
        std::min(std::max(word.end, word.start + kWordSecondsMin), std::max(seconds, word.start));
    earliest = word.end;
  }
  std::erase_if(words, [](const HeardWord& w) { return !is_spoken(w.text); });
  return words;
}

std::size_t length_without_loop(const std::vector<std::int32_t>& tokens) {
  for (std::size_t period = 1; period <= kLoopPeriodMax; ++period) {
    const std::size_t copies = period == 1                  ? kLoopCopiesOfOne
                               : period <= kLoopShortPeriod ? kLoopCopiesShort
                                                            : kLoopCopies;
    const std::size_t tail = repeated_tail(tokens, period);
    if (tail >= period * (copies - 1)) return tokens.size() - tail;
  }
  return tokens.size();
}

}  // namespace saccade::engine
