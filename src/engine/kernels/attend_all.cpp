#include "engine/kernels/attend_all.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/kernels/activate.h"
#include "engine/kernels/matmul.h"

namespace saccade::engine::kernels {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Every group has room for the largest one.
std::size_t key_bytes(const HeadsShape& s) {
  return aligned(PackedColumns::bytes(s.rows_max, s.size));
}
std::size_t value_bytes(const HeadsShape& s) {
  return aligned(PackedColumns::bytes(s.size, s.rows_max));
}

// Keys and values of one head in one group: both read-only views when attending.
struct Head {
  PackedColumns keys, values;
};

// Heads of all groups, counted group by group.
struct Place {
  int group, head, first, rows;  // rows of the group
};

Place place_of(const HeadsShape& shape, int index) {
  const int group = index / shape.heads;
  return {group, index % shape.heads, shape.starts[static_cast<std::size_t>(group)],
          shape.rows_of(group)};
}

Head head_at(const HeadsShape& shape, void* packed, int index) {
  const std::size_t keys = key_bytes(shape);
  auto* bytes = static_cast<std::uint8_t*>(packed) +
                static_cast<std::size_t>(index) * (keys + value_bytes(shape));
  const int rows = place_of(shape, index).rows;
  return {PackedColumns::in(bytes, rows, shape.size),
          PackedColumns::in(bytes + keys, shape.size, rows)};
}

// First value of a head's part of the rows of its group.
std::ptrdiff_t head_offset(const HeadsShape& shape, const Place& place) {
  return static_cast<std::ptrdiff_t>(place.first) * 3 * shape.width() +
         static_cast<std::ptrdiff_t>(place.head) * shape.size;
}

int padded(int columns) { return panels_of(columns) * kPanelColumns; }

void attend_strip(const Attend& work, const Place& place, const Head& head, int strip,
                  AttendScratch::Part& scratch) {
  const HeadsShape& s = work.shape;
  const std::ptrdiff_t step = std::ptrdiff_t{3} * s.width();
  const float* query = work.qkv + head_offset(s, place);
  const int first = strip * kStripRows;
  const int rows = std::min(kStripRows, place.rows - first);

  PackedRows packed = PackedRows::in(scratch.packed.data(), rows, s.size);
  const float scale = 1.0F / std::sqrt(static_cast<float>(s.size));
  for (int r = 0; r < rows; ++r) pack_row(packed, r, query + (first + r) * step, scale);
  multiply_strip(packed, 0, head.keys, scratch.scores.data());

  const auto seen = static_cast<std::size_t>(place.rows);
  const std::ptrdiff_t score_step = padded(place.rows);
  float sums[kStripRows] = {};
  for (int r = 0; r < rows; ++r) {
    float* row = scratch.scores.data() + r * score_step;
    sums[r] = exponentials(row, seen, largest_of(row, seen));
  }
  packed = PackedRows::in(scratch.packed.data(), rows, place.rows);
  for (int r = 0; r < rows; ++r) pack_row(packed, r, scratch.scores.data() + r * score_step);
  multiply_strip(packed, 0, head.values, scratch.result.data());

  for (int r = 0; r < rows; ++r) {
    const float* from = scratch.result.data() + static_cast<std::ptrdiff_t>(r) * padded(s.size);
    float* to = work.out + static_cast<std::ptrdiff_t>(place.first + first + r) * s.width() +
                static_cast<std::ptrdiff_t>(place.head) * s.size;
    for (int i = 0; i < s.size; ++i) to[i] = from[i] / sums[r];
  }
}

}  // namespace

HeadsShape::HeadsShape(int heads_in, int size_in, std::vector<int> starts_in)
    : heads(heads_in), size(size_in), starts(std::move(starts_in)) {
  for (int group = 0; group < groups(); ++group) rows_max = std::max(rows_max, rows_of(group));
}

std::vector<int> equal_groups(int rows, int count) {
  std::vector<int> starts;
  for (int group = 0; group <= count; ++group) starts.push_back(group * rows);
  return starts;
}

std::size_t packed_heads_bytes(const HeadsShape& shape) {
  return static_cast<std::size_t>(shape.heads) * static_cast<std::size_t>(shape.groups()) *
         (key_bytes(shape) + value_bytes(shape));
}

void pack_heads(const HeadsShape& shape, const float* qkv, void* packed, Share share) {
  const std::ptrdiff_t step = std::ptrdiff_t{3} * shape.width();
  const Range heads = part_of(shape.heads * shape.groups(), share);
  for (int index = heads.first; index < heads.last; ++index) {
    const Head head = head_at(shape, packed, index);
    const float* keys = qkv + head_offset(shape, place_of(shape, index)) + shape.width();
    pack_columns(head.keys, {keys, step, 1, 0}, {0, panels_of(head.keys.columns)});
    pack_columns(head.values, {keys + shape.width(), 1, step, 0}, {0, panels_of(shape.size)});
  }
}

AttendScratch::AttendScratch(const HeadsShape& shape, int workers)
    : parts_(static_cast<std::size_t>(workers)) {
  const int most = shape.rows_max;
  const std::size_t packed =
      std::max(PackedRows::bytes(kStripRows, shape.size), PackedRows::bytes(kStripRows, most));
  for (auto& part : parts_) {
    part.scores.resize(static_cast<std::size_t>(kStripRows) *
                       static_cast<std::size_t>(padded(most)));
    part.result.resize(static_cast<std::size_t>(kStripRows) *
                       static_cast<std::size_t>(padded(shape.size)));
    part.packed.resize(packed / sizeof(std::int64_t) + 1);
  }
}

void attend(const Attend& work, Share share) {
  const HeadsShape& s = work.shape;
  const int strips = strips_of(s.rows_max);
  const Range items = part_of(s.heads * s.groups() * strips, share);
  auto& scratch = work.scratch->part(share.index);
  for (int item = items.first; item < items.last; ++item) {
    const int index = item / strips, strip = item % strips;
    const Place place = place_of(s, index);
    if (strip * kStripRows >= place.rows) continue;  // a small group
    // Only read from here on.
    const Head head = head_at(s, const_cast<void*>(work.packed), index);
    attend_strip(work, place, head, strip, scratch);
  }
}

}  // namespace saccade::engine::kernels
