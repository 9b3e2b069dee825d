// Words are matched by letters and, because speech repeats itself, by time as well.
#include "perceive/hear/agree_hypotheses.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace saccade::perceive {
namespace {

using engine::HeardWord;

constexpr std::size_t kOverlapMax = 5;          // words compared where a hypothesis joins
constexpr double kOverlapSecondsMax = 1.0;      // times of one word differ by less than this
constexpr double kCommittedSlackSeconds = 0.1;  // a new word may begin so long before the old end

// Letters and digits in lower case; bytes of other scripts stay as they are.
std::string letters(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 'A' && u <= 'Z')
      out += static_cast<char>(u | 0x20);
    else if (u >= 0x80 || (u >= 'a' && u <= 'z') || (u >= '0' && u <= '9'))
      out += c;
  }
  return out;
}

bool same(const HeardWord& a, const HeardWord& b) { return letters(a.text) == letters(b.text); }

}  // namespace

std::size_t Agreement::beyond_committed(const Words& hypothesis) const {
  if (committed_.empty()) return 0;
  const double end = committed_.back().end;
  std::size_t best = 0, best_overlap = 0;
  double best_distance = kOverlapSecondsMax;
  for (std::size_t j = 1; j <= hypothesis.size(); ++j) {
    const double distance = std::abs(hypothesis[j - 1].end - end);
    if (distance > kOverlapSecondsMax) continue;
    std::size_t overlap = 0;
    while (overlap < std::min({kOverlapMax, j, committed_.size()}) &&
           same(hypothesis[j - 1 - overlap], committed_[committed_.size() - 1 - overlap]))
      ++overlap;
    if (overlap > best_overlap ||
        (overlap > 0 && overlap == best_overlap && distance < best_distance)) {
      best = j;
      best_overlap = overlap;
      best_distance = distance;
    }
  }
  if (best_overlap > 0) return best;
  // No word in common: time alone decides.
  const auto later = std::find_if(hypothesis.begin(), hypothesis.end(), [&](const HeardWord& w) {
    return w.start >= end - kCommittedSlackSeconds;
  });
  return static_cast<std::size_t>(later - hypothesis.begin());
}

void Agreement::add(const Words& hypothesis) {
  const std::size_t known = beyond_committed(hypothesis);
  Words rest(hypothesis.begin() + static_cast<std::ptrdiff_t>(known), hypothesis.end());
  std::size_t agreed = 0;
  while (agreed < std::min(rest.size(), tentative_.size()) &&
         same(rest[agreed], tentative_[agreed]))
    ++agreed;
  const auto split = rest.begin() + static_cast<std::ptrdiff_t>(agreed);
  committed_.insert(committed_.end(), rest.begin(), split);
  tentative_.assign(split, rest.end());
}

Agreement::Words Agreement::finish(const Words& hypothesis) const {
  if (hypothesis.size() >= committed_.size() &&
      std::equal(committed_.begin(), committed_.end(), hypothesis.begin(), same))
    return hypothesis;
  Words words = committed_;
  const std::size_t known = beyond_committed(hypothesis);
  words.insert(words.end(), hypothesis.begin() + static_cast<std::ptrdiff_t>(known),
               hypothesis.end());
  return words;
}

void Agreement::clear() {
  committed_.clear();
  tentative_.clear();
}

}  // namespace saccade::perceive
