#include "perceive/read/decode_ctc.h"

#include <algorithm>
#include <cmath>

#include "core/limits.h"

namespace saccade::perceive {
namespace {

// Code point of `bytes` when it is exactly one shortest-form UTF-8 character, else -1.
std::int32_t code_point(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > 4) return -1;
  const auto lead = static_cast<unsigned char>(bytes[0]);
  constexpr std::int32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  std::size_t length = 1;
  std::int32_t point = lead;
  if (lead >= 0xF0 && lead < 0xF8) {
    length = 4, point = lead & 0x07;
  } else if (lead >= 0xE0) {
    length = 3, point = lead & 0x0F;
  } else if (lead >= 0xC0) {
    length = 2, point = lead & 0x1F;
  } else if (lead >= 0x80) {
    return -1;
  }
  if (bytes.size() != length || lead >= 0xF8) return -1;
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if ((byte & 0xC0) != 0x80) return -1;
    point = (point << 6) | (byte & 0x3F);
  }
  return point < kLeast[length] ? -1 : point;
}

// Logistic fit of "the whole line is right" on 1946 boxes: ten fonts of 12 to 34 px, blur, noise,
// JPEG, low contrast, and lamps, bars and arcs that are no text. The recogniser's own mean
// probability is far too sure (expected calibration error 0.16); fitted it is 0.02, on the half not
// fitted too. A lone character is often a lamp: it must be surer than a word.
constexpr double kBias = -2.92, kMeanWeight = 0.83, kLeastWeight = 0.58, kLoneBias = -3.75;

double log_odds(double p) {
  p = std::clamp(p, 0.001, 0.999);
  return std::log(p / (1 - p));
}

bool both_blank(std::span<const CtcStep> left, std::span<const CtcStep> right, std::size_t l,
                std::size_t r) {
  return left[l].symbol == kCtcBlank && right[r].symbol == kCtcBlank;
}

}  // namespace

std::vector<CtcStep> join_steps(std::span<const CtcStep> left, std::span<const CtcStep> right,
                                int overlap) {
  const auto shared = static_cast<int>(std::min<std::size_t>(
      {static_cast<std::size_t>(std::max(overlap, 0)), left.size(), right.size()}));
  const std::size_t start = left.size() - static_cast<std::size_t>(shared);
  // Peaks of one character may sit a column apart in the two looks, so a gap must be blank on both
  // sides of the seam too. Without any gap the middle has to do.
  int seam = shared / 2;
  for (int away = 0; away <= shared / 2; ++away) {
    for (const int at : {shared / 2 - away, shared / 2 + away}) {
      if (at < 1 || at + 1 >= shared) continue;
      bool gap = true;
      for (int i = at - 1; i <= at + 1; ++i) {
        gap = gap && both_blank(left, right, start + static_cast<std::size_t>(i),
                                static_cast<std::size_t>(i));
      }
      if (gap) {
        seam = at;
        away = shared;
        break;
      }
    }
  }
  std::vector<CtcStep> joined(left.begin(),
                              left.begin() + static_cast<std::ptrdiff_t>(start) + seam);
  joined.insert(joined.end(), right.begin() + seam, right.end());
  return joined;
}

bool printable_character(std::string_view bytes) {
  const std::int32_t point = code_point(bytes);
  if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return false;
  if (point >= 0xD800 && point <= 0xDFFF) return false;  // surrogates
  if (point == 0x2028 || point == 0x2029 || point == 0xFEFF) return false;
  if ((point >= 0x200B && point <= 0x200F) || (point >= 0x202A && point <= 0x202E) ||
      (point >= 0x2060 && point <= 0x206F)) {
    return false;  // zero width and direction overrides
  }
  return point <= 0x10FFFF;
}

std::vector<ReadCharacter> decode_ctc(std::span<const CtcStep> steps,
                                      std::span<const std::string> symbols) {
  std::vector<ReadCharacter> characters;
  std::size_t bytes = 0;
  int previous = kCtcBlank;
  bool taken = false;  // the symbol `previous` is the last of `characters`
  for (const CtcStep& step : steps) {
    if (step.symbol == previous) {
      if (taken) {
        float& best = characters.back().probability;
        best = std::max(best, step.probability);
      }
      continue;
    }
    previous = step.symbol;
    taken = false;
    if (step.symbol <= kCtcBlank || static_cast<std::size_t>(step.symbol) >= symbols.size()) {
      continue;
    }
    const std::string& text = symbols[static_cast<std::size_t>(step.symbol)];
    if (!printable_character(text) || (characters.empty() && text == " ")) continue;
    if (bytes + text.size() > core::limits::kTextLineBytesMax) break;
    bytes += text.size();
    characters.push_back(ReadCharacter{text, step.probability});
    taken = true;
  }
  while (!characters.empty() && characters.back().text == " ") characters.pop_back();
  return characters;
}

float line_confidence(std::span<const ReadCharacter> characters) {
  if (characters.empty()) return 0;
  double sum = 0, least = 1;
  for (const ReadCharacter& character : characters) {
    const double p = std::clamp(static_cast<double>(character.probability), 0.0, 1.0);
    sum += p;
    least = std::min(least, p);
  }
  const double mean = sum / static_cast<double>(characters.size());
  const double score = kBias + kMeanWeight * log_odds(mean) + kLeastWeight * log_odds(least) +
                       (characters.size() == 1 ? kLoneBias : 0.0);
  return static_cast<float>(1.0 / (1.0 + std::exp(-score)));
}

}  // namespace saccade::perceive
