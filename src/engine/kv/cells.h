#pragma once
// Who owns which cell of the key-value memory. A cell has two coordinates: `order`, when it arrived
// (decides what may see it), and `position`, where it stands (decides its rotation). Cells may
// belong to several sequences, so a branch costs nothing and its stem is stored once. Free cells
// are reused in any place: attention does not care about the order of cells in memory. Source: the
// two-coordinate rule follows docs/architecture.md; sequences as bit sets as in llama.cpp's unified
// cache. Threads: one at a time.
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/position.h"

namespace saccade::engine::kv {

using Sequence = int;
inline constexpr int kSequencesMax = 64;

struct Cell {
  std::int64_t order = -1;
  Position position;
  std::uint64_t members = 0;  // one bit per sequence; 0 = free
};

class Cells {
 public:
  explicit Cells(int count);

  int size() const { return static_cast<int>(cells_.size()); }
  int used() const { return used_; }
  // One past the highest used cell: what attention has to read.
  int end() const;
  const Cell& at(int cell) const { return cells_[static_cast<std::size_t>(cell)]; }

  // A sequence that holds nothing, or nothing when all are taken.
  std::optional<Sequence> open();
  // Free cells, lowest first, for `count` tokens; nothing is taken yet. Empty when there are fewer.
  std::optional<std::vector<int>> reserve(int count) const;
  // Takes a free cell for the next token of a sequence and returns its order. Orders only grow.
  std::int64_t take(int cell, Sequence sequence, Position position);

  // `to` (which must hold nothing) sees all that `from` holds now.
  void branch(Sequence from, Sequence to);
  // A sequence no longer sees cells from `order` on; cells that nobody sees become free.
  void leave(Sequence sequence, std::int64_t from_order = 0);
  // Takes one cell out of a sequence.
  void evict(Sequence sequence, int cell);
  void close(Sequence sequence);
  // All of a sequence's cells move by `delta` on every axis; shared ones too, so others must agree.
  // Returns them.
  std::vector<int> shift(Sequence sequence, std::int32_t delta);

  // Cells of a sequence, oldest first.
  std::vector<int> cells_of(Sequence sequence) const;
  int count(Sequence sequence) const { return counts_[static_cast<std::size_t>(sequence)]; }
  bool holds(Sequence sequence, int cell) const { return (at(cell).members >> sequence & 1) != 0; }
  bool sees(Sequence sequence, std::int64_t order, int cell) const {
    return holds(sequence, cell) && at(cell).order <= order;
  }

 private:
  void drop(int cell, Sequence sequence);

  std::vector<Cell> cells_;
  std::vector<int> counts_;  // per sequence
  std::uint64_t opened_ = 0;
  std::int64_t next_order_ = 0;
  int used_ = 0;
};

}  // namespace saccade::engine::kv
