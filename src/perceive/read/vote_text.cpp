#include "perceive/read/vote_text.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace saccade::perceive {
namespace {

constexpr auto kNone = std::numeric_limits<std::size_t>::max();
// From this probability on a character counts as surely read. Lower than a vote would like: looks
// are only made where pixels changed, and a reading that stays at its old value is worse than one
// reported twice.
constexpr float kSure = 0.7F;
constexpr double kWeightMin = 1e-3;

// Marks that come and go with compression noise.
bool small_mark(std::string_view text) {
  constexpr std::string_view kMarks = " .,'`:;-_\"~";
  return text.size() == 1 && kMarks.find(text[0]) != std::string_view::npos;
}

// Edit distances of all prefixes, row-major [a + 1][b + 1]. `drop(i)` is the cost of leaving out
// item i of the first side; everything else costs 1.
template <typename Same, typename Drop>
std::vector<std::uint32_t> edit_table(std::size_t a, std::size_t b, Same same, Drop drop) {
  std::vector<std::uint32_t> table((a + 1) * (b + 1));
  const auto at = [&](std::size_t i, std::size_t j) -> auto& { return table[i * (b + 1) + j]; };
  for (std::size_t j = 1; j <= b; ++j) at(0, j) = static_cast<std::uint32_t>(j);
  for (std::size_t i = 1; i <= a; ++i) {
    const std::uint32_t dropped = drop(i - 1);
    at(i, 0) = at(i - 1, 0) + dropped;
    for (std::size_t j = 1; j <= b; ++j) {
      const std::uint32_t swap = at(i - 1, j - 1) + (same(i - 1, j - 1) ? 0 : 1);
      at(i, j) = std::min({swap, at(i - 1, j) + dropped, at(i, j - 1) + 1});
    }
  }
  return table;
}

std::vector<const ReadCharacter*> without_spaces(const std::vector<ReadCharacter>& text) {
  std::vector<const ReadCharacter*> out;
  for (const ReadCharacter& character : text) {
    if (character.text != " ") out.push_back(&character);
  }
  return out;
}

}  // namespace

const TextVote::Candidate& TextVote::Column::winner() const {
  return *std::max_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.weight < b.weight; });
}

void TextVote::Column::vote(const std::string& text, double weight, double probability) {
  auto at = std::find_if(candidates.begin(), candidates.end(),
                         [&](const Candidate& c) { return c.text == text; });
  if (at == candidates.end()) {
    if (candidates.size() >= kVoteCandidatesMax) {
      candidates.erase(std::min_element(
          candidates.begin(), candidates.end(),
          [](const Candidate& a, const Candidate& b) { return a.weight < b.weight; }));
    }
    at = candidates.insert(candidates.end(), Candidate{text, 0, 0});
  }
  at->weight += weight;
  at->evidence += weight * probability;
}

std::vector<TextVote::Pair> TextVote::align(const LineReading& look) const {
  const std::size_t a = columns_.size(), b = look.characters.size();
  const auto same = [&](std::size_t i, std::size_t j) {
    return columns_[i].winner().text == look.characters[j].text;
  };
  // A column where nothing won is free to stay empty.
  const auto drop = [&](std::size_t i) { return columns_[i].winner().text.empty() ? 0U : 1U; };
  const auto table = edit_table(a, b, same, drop);
  const auto at = [&](std::size_t i, std::size_t j) { return table[i * (b + 1) + j]; };
  std::vector<Pair> pairs;
  std::size_t i = a, j = b;
  while (i > 0 || j > 0) {
    if (i > 0 && j > 0 && at(i, j) == at(i - 1, j - 1) + (same(i - 1, j - 1) ? 0 : 1)) {
      pairs.push_back(Pair{--i, --j});
    } else if (i > 0 && at(i, j) == at(i - 1, j) + drop(i - 1)) {
      pairs.push_back(Pair{--i, kNone});
    } else {
      pairs.push_back(Pair{kNone, --j});
    }
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

void TextVote::add(const LineReading& look) {
  const double focus = std::clamp(static_cast<double>(look.focus), 0.05, 1.0);
  const double absent = std::max(kWeightMin, focus * look.confidence);
  std::vector<Column> merged;
  for (const Pair pair : align(look)) {
    if (merged.size() >= kVoteColumnsMax) break;
    Column column;
    if (pair.column != kNone) {
      column = std::move(columns_[pair.column]);
    } else if (weight_ > 0) {
      column.vote("", weight_, 1.0);
    }
    if (pair.character == kNone) {
      column.vote("", absent, look.confidence);
    } else {
      const ReadCharacter& character = look.characters[pair.character];
      const double p = std::clamp(static_cast<double>(character.probability), 0.0, 1.0);
      column.vote(character.text, std::max(kWeightMin, focus * p), p);
    }
    merged.push_back(std::move(column));
  }
  columns_ = std::move(merged);
  weight_ += absent;
}

float TextVote::trust(const Column& column) const {
  double all = 0;
  for (const Candidate& candidate : column.candidates) all += candidate.weight;
  return all > 0 ? static_cast<float>(column.winner().evidence / all) : 0.0F;
}

bool TextVote::contradicts(const LineReading& look) const {
  for (const Pair pair : align(look)) {
    const std::string old = pair.column == kNone ? "" : columns_[pair.column].winner().text;
    const std::string now = pair.character == kNone ? "" : look.characters[pair.character].text;
    if (old == now || (small_mark(old) && now.empty()) || (small_mark(now) && old.empty()))
      continue;
    const float old_trust = pair.column == kNone ? 1.0F : trust(columns_[pair.column]);
    const float now_trust =
        pair.character == kNone ? look.confidence : look.characters[pair.character].probability;
    if (old_trust >= kSure && now_trust >= kSure) return true;
  }
  return false;
}

std::vector<ReadCharacter> TextVote::characters() const {
  std::vector<ReadCharacter> out;
  for (const Column& column : columns_) {
    const Candidate& winner = column.winner();
    if (!winner.text.empty()) out.push_back(ReadCharacter{winner.text, trust(column)});
  }
  return out;
}

std::string TextVote::text() const {
  std::string joined;
  for (const Column& column : columns_) joined += column.winner().text;
  return joined;
}

double text_similarity(const std::vector<ReadCharacter>& a, const std::vector<ReadCharacter>& b) {
  const auto left = without_spaces(a), right = without_spaces(b);
  const std::size_t longer = std::max(left.size(), right.size());
  if (longer == 0) return 1.0;
  const auto table = edit_table(
      left.size(), right.size(),
      [&](std::size_t i, std::size_t j) { return left[i]->text == right[j]->text; },
      [](std::size_t) { return 1U; });
  return 1.0 - static_cast<double>(table.back()) / static_cast<double>(longer);
}

}  // namespace saccade::perceive
