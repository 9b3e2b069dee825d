#pragma once
// One text out of several looks at the same line: character-aligned weighted voting (as ROVER does
// for speech; Petrova et al. 2021 for video OCR). Each look is aligned to the columns so far by
// edit distance; in each column the character with most weight wins, "nothing" being a candidate
// too. Weight of a look's character = its probability x focus of the look. Pure; bounded by
// kVoteColumnsMax columns of kVoteCandidatesMax candidates.
#include <cstddef>
#include <string>
#include <vector>

#include "perceive/read/text_sense.h"

namespace saccade::perceive {

inline constexpr std::size_t kVoteColumnsMax = 1024;
inline constexpr std::size_t kVoteCandidatesMax = 6;

class TextVote {
 public:
  TextVote() = default;
  explicit TextVote(const LineReading& first) { add(first); }

  // Takes a look into account. Looks beyond the column limit lose what does not fit.
  void add(const LineReading& look);

  // Whether `look` shows other text, not the same text read worse: somewhere both sides are sure of
  // different characters. Doubtful characters, spaces and small marks never tell texts apart.
  bool contradicts(const LineReading& look) const;

  // The winners and how far they can be trusted: agreeing looks' mean probability.
  std::vector<ReadCharacter> characters() const;
  std::string text() const;

 private:
  struct Candidate {
    std::string text;                 // empty: nothing stands here
    double weight = 0, evidence = 0;  // sum of weights; sum of weight x probability
  };
  struct Column {
    std::vector<Candidate> candidates;
    const Candidate& winner() const;
    void vote(const std::string& text, double weight, double probability);
  };
  // For each step of the alignment: column index or npos, character index or npos.
  struct Pair {
    std::size_t column, character;
  };
  std::vector<Pair> align(const LineReading& look) const;
  float trust(const Column& column) const;

  std::vector<Column> columns_;
  double weight_ = 0;  // of all looks, for columns that were added later
};

// 1 - edit distance / longer length, over characters without spaces; 1 when both are empty.
double text_similarity(const std::vector<ReadCharacter>& a, const std::vector<ReadCharacter>& b);

}  // namespace saccade::perceive
