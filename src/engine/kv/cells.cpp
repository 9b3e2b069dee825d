#include "engine/kv/cells.h"

#include <algorithm>
#include <bit>

namespace saccade::engine::kv {
namespace {

std::uint64_t bit(Sequence sequence) { return std::uint64_t{1} << sequence; }

}  // namespace

Cells::Cells(int count) : cells_(static_cast<std::size_t>(count)), counts_(kSequencesMax, 0) {}

int Cells::end() const {
  int last = size();
  while (last > 0 && at(last - 1).members == 0) --last;
  return last;
}

std::optional<Sequence> Cells::open() {
  const int free = std::countr_one(opened_);
  if (free >= kSequencesMax) return std::nullopt;
  opened_ |= bit(free);
  return free;
}

std::optional<std::vector<int>> Cells::reserve(int count) const {
  if (count > size() - used_) return std::nullopt;
  std::vector<int> out;
  for (int cell = 0; static_cast<int>(out.size()) < count; ++cell) {
    if (at(cell).members == 0) out.push_back(cell);
  }
  return out;
}

std::int64_t Cells::take(int cell, Sequence sequence, Position position) {
  cells_[static_cast<std::size_t>(cell)] = {next_order_, position, bit(sequence)};
  ++counts_[static_cast<std::size_t>(sequence)];
  ++used_;
  return next_order_++;
}

void Cells::branch(Sequence from, Sequence to) {
  for (int cell = 0; cell < size(); ++cell) {
    if (holds(from, cell)) cells_[static_cast<std::size_t>(cell)].members |= bit(to);
  }
  counts_[static_cast<std::size_t>(to)] = counts_[static_cast<std::size_t>(from)];
}

void Cells::drop(int cell, Sequence sequence) {
  auto& members = cells_[static_cast<std::size_t>(cell)].members;
  members &= ~bit(sequence);
  --counts_[static_cast<std::size_t>(sequence)];
  if (members == 0) --used_;
}

void Cells::leave(Sequence sequence, std::int64_t from_order) {
  for (int cell = 0; cell < size(); ++cell) {
    if (holds(sequence, cell) && at(cell).order >= from_order) {
      drop(cell, sequence);
    }
  }
}

void Cells::evict(Sequence sequence, int cell) {
  if (holds(sequence, cell)) drop(cell, sequence);
}

void Cells::close(Sequence sequence) {
  leave(sequence);
  opened_ &= ~bit(sequence);
}

std::vector<int> Cells::shift(Sequence sequence, std::int32_t delta) {
  std::vector<int> moved = cells_of(sequence);
  for (const int cell : moved) {
    Position& position = cells_[static_cast<std::size_t>(cell)].position;
    position = {position.t + delta, position.h + delta, position.w + delta};
  }
  return moved;
}

std::vector<int> Cells::cells_of(Sequence sequence) const {
  std::vector<int> out;
  for (int cell = 0; cell < size(); ++cell) {
    if (holds(sequence, cell)) out.push_back(cell);
  }
  std::sort(out.begin(), out.end(), [&](int a, int b) { return at(a).order < at(b).order; });
  return out;
}

}  // namespace saccade::engine::kv
