// Bookkeeping of cells under random work, against a plain model that stores every sequence as a
// list of tokens.
#include "engine/kv/cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/rng.h"

namespace saccade::engine::kv {
namespace {

constexpr int kSeeds = 500, kSteps = 300, kCells = 96;

struct Token {
  std::int64_t order;
  Position position;
  bool operator==(const Token&) const = default;
};
using Model = std::map<Sequence, std::vector<Token>>;

std::vector<Token> tokens_of(const Cells& cells, Sequence sequence) {
  std::vector<Token> out;
  for (const int cell : cells.cells_of(sequence)) {
    out.push_back({cells.at(cell).order, cells.at(cell).position});
  }
  return out;
}

Sequence any(const Model& model, core::Rng& rng) {
  auto it = model.begin();
  std::advance(it, rng.between(0, static_cast<std::int64_t>(model.size()) - 1));
  return it->first;
}

void append(Cells& cells, std::vector<Token>& tokens, Sequence sequence, int count) {
  const auto reserved = cells.reserve(count);
  ASSERT_EQ(reserved.has_value(), count <= cells.size() - cells.used());
  if (!reserved) return;
  EXPECT_EQ(std::set<int>(reserved->begin(), reserved->end()).size(),
            static_cast<std::size_t>(count));
  for (const int cell : *reserved) {
    const auto position = Position::at(static_cast<std::int32_t>(tokens.size()));
    tokens.push_back({cells.take(cell, sequence, position), position});
  }
}

// One random action on both.
void act(Cells& cells, Model& model, core::Rng& rng) {
  const Sequence s = any(model, rng);
  auto& tokens = model[s];
  switch (rng.between(0, 5)) {
    case 0:
    case 1:
      append(cells, tokens, s, static_cast<int>(rng.between(1, 12)));
      break;
    case 2: {  // forget the end
      if (tokens.empty()) break;
      const auto keep =
          static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(tokens.size()) - 1));
      cells.leave(s, tokens[keep].order);
      tokens.resize(keep);
      break;
    }
    case 3: {  // branch
      const auto to = cells.open();
      ASSERT_TRUE(to.has_value());
      cells.branch(s, *to);
      model[*to] = tokens;
      break;
    }
    case 4: {  // evict from the middle
      if (tokens.empty()) break;
      const auto at =
          static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(tokens.size()) - 1));
      cells.evict(s, cells.cells_of(s)[at]);
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    }
    default:
      if (model.size() < 2) break;
      cells.close(s);
      model.erase(s);
  }
}

void expect_equal(const Cells& cells, const Model& model) {
  std::set<std::int64_t> distinct;
  for (const auto& [sequence, tokens] : model) {
    ASSERT_EQ(tokens_of(cells, sequence), tokens);
    ASSERT_EQ(cells.count(sequence), static_cast<int>(tokens.size()));
    for (const auto& token : tokens) distinct.insert(token.order);
  }
  // A cell is used exactly while somebody sees it: nothing leaks, nothing is freed early.
  ASSERT_EQ(cells.used(), static_cast<int>(distinct.size()));
  ASSERT_GE(cells.end(), cells.used());
}

TEST(CellsTest, RandomWorkEqualsThePlainModel) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    core::Rng rng(seed);
    Cells cells(kCells);
    Model model;
    model[*cells.open()] = {};
    for (int i = 0; i < kSteps; ++i) {
      if (model.size() >= 10) {
        const Sequence s = any(model, rng);
        cells.close(s);
        model.erase(s);
      }
      act(cells, model, rng);
      expect_equal(cells, model);
      if (HasFatalFailure()) return;
    }
    for (const auto& [sequence, tokens] : model) cells.close(sequence);
    ASSERT_EQ(cells.used(), 0);
    ASSERT_EQ(cells.end(), 0);
  }
}

TEST(CellsTest, ATokenSeesItsSequenceUpToItself) {
  Cells cells(8);
  const auto a = *cells.open(), b = *cells.open();
  const auto first = cells.take(0, a, {});
  cells.branch(a, b);
  const auto second = cells.take(1, a, Position::at(1));
  const auto other = cells.take(2, b, Position::at(1));
  EXPECT_TRUE(cells.sees(a, second, 0));
  EXPECT_TRUE(cells.sees(b, other, 0));
  EXPECT_FALSE(cells.sees(b, other, 1));   // the stem's later word
  EXPECT_FALSE(cells.sees(a, first, 1));   // the future
  EXPECT_FALSE(cells.sees(a, second, 2));  // the branch's own
}

TEST(CellsTest, SequencesAreBoundedAndComeBack) {
  Cells cells(4);
  std::vector<Sequence> all;
  all.reserve(kSequencesMax);
  for (int i = 0; i < kSequencesMax; ++i) all.push_back(*cells.open());
  EXPECT_FALSE(cells.open().has_value());
  cells.close(all[17]);
  EXPECT_EQ(cells.open(), all[17]);
}

TEST(CellsTest, ShiftMovesPositionsAndKeepsOrder) {
  Cells cells(4);
  const auto s = *cells.open();
  // A word, a visual token in the second row and third column, the next word.
  const Position places[] = {{100, 100, 100}, {101, 102, 103}, {104, 104, 104}};
  for (int i = 0; i < 3; ++i) cells.take(i, s, places[i]);
  EXPECT_EQ(cells.shift(s, -100).size(), 3U);
  EXPECT_EQ(tokens_of(cells, s),
            (std::vector<Token>{{0, {0, 0, 0}}, {1, {1, 2, 3}}, {2, {4, 4, 4}}}));
}

}  // namespace
}  // namespace saccade::engine::kv
