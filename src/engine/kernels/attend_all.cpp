#include "engine/kernels/attend_all.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/activate.h"
#include "engine/kernels/matmul.h"

namespace saccade::engine::kernels {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::size_t key_bytes(const HeadsShape& s) {
  return aligned(PackedColumns::bytes(s.tokens, s.size));
}
std::size_t value_bytes(const HeadsShape& s) {
  return aligned(PackedColumns::bytes(s.size, s.tokens));
}

// Keys and values of one head: both read-only views when attending.
struct Head {
  PackedColumns keys, values;
};

Head head_at(const HeadsShape& shape, void* packed, int index) {
  auto* bytes = static_cast<std::uint8_t*>(packed) +
                static_cast<std::size_t>(index) * (key_bytes(shape) + value_bytes(shape));
  return {PackedColumns::in(bytes, shape.tokens, shape.size),
          PackedColumns::in(bytes + key_bytes(shape), shape.size, shape.tokens)};
}

// First value of a head's part of the rows of its picture.
std::ptrdiff_t head_offset(const HeadsShape& shape, int index) {
  const int picture = index / shape.heads;
  return static_cast<std::ptrdiff_t>(picture) * shape.tokens * 3 * shape.width() +
         static_cast<std::ptrdiff_t>(index % shape.heads) * shape.size;
}

int padded(int columns) { return panels_of(columns) * kPanelColumns; }

void attend_strip(const Attend& work, const Head& head, int index, int strip,
                  AttendScratch::Part& scratch) {
  const HeadsShape& s = work.shape;
  const std::ptrdiff_t step = std::ptrdiff_t{3} * s.width();
  const float* query = work.qkv + head_offset(s, index);
  const int first = strip * kStripRows;
  const int rows = std::min(kStripRows, s.tokens - first);

  PackedRows packed = PackedRows::in(scratch.packed.data(), rows, s.size);
  const float scale = 1.0F / std::sqrt(static_cast<float>(s.size));
  for (int r = 0; r < rows; ++r) pack_row(packed, r, query + (first + r) * step, scale);
  multiply_strip(packed, 0, head.keys, scratch.scores.data());

  const auto tokens = static_cast<std::size_t>(s.tokens);
  float sums[kStripRows] = {};
  for (int r = 0; r < rows; ++r) {
    float* row = scratch.scores.data() + static_cast<std::ptrdiff_t>(r) * padded(s.tokens);
    sums[r] = exponentials(row, tokens, largest_of(row, tokens));
  }
  packed = PackedRows::in(scratch.packed.data(), rows, s.tokens);
  for (int r = 0; r < rows; ++r) {
    pack_row(packed, r, scratch.scores.data() + static_cast<std::ptrdiff_t>(r) * padded(s.tokens));
  }
  multiply_strip(packed, 0, head.values, scratch.result.data());

  const int picture = index / s.heads;
  for (int r = 0; r < rows; ++r) {
    const float* from = scratch.result.data() + static_cast<std::ptrdiff_t>(r) * padded(s.size);
    float* to = work.out +
                (static_cast<std::ptrdiff_t>(picture) * s.tokens + first + r) * s.width() +
                static_cast<std::ptrdiff_t>(index % s.heads) * s.size;
    for (int i = 0; i < s.size; ++i) to[i] = from[i] / sums[r];
  }
}

}  // namespace

std::size_t packed_heads_bytes(const HeadsShape& shape) {
  return static_cast<std::size_t>(shape.heads) * static_cast<std::size_t>(shape.pictures) *
         (key_bytes(shape) + value_bytes(shape));
}

void pack_heads(const HeadsShape& shape, const float* qkv, void* packed, Share share) {
  const std::ptrdiff_t step = std::ptrdiff_t{3} * shape.width();
  const Range heads = part_of(shape.heads * shape.pictures, share);
  for (int index = heads.first; index < heads.last; ++index) {
    const Head head = head_at(shape, packed, index);
    const float* keys = qkv + head_offset(shape, index) + shape.width();
    pack_columns(head.keys, {keys, step, 1, 0}, {0, panels_of(shape.tokens)});
    pack_columns(head.values, {keys + shape.width(), 1, step, 0}, {0, panels_of(shape.size)});
  }
}

AttendScratch::AttendScratch(const HeadsShape& shape, int workers)
    : parts_(static_cast<std::size_t>(workers)) {
  const std::size_t packed = std::max(PackedRows::bytes(kStripRows, shape.size),
                                      PackedRows::bytes(kStripRows, shape.tokens));
  for (auto& part : parts_) {
    part.scores.resize(static_cast<std::size_t>(kStripRows) *
                       static_cast<std::size_t>(padded(shape.tokens)));
    part.result.resize(static_cast<std::size_t>(kStripRows) *
                       static_cast<std::size_t>(padded(shape.size)));
    part.packed.resize(packed / sizeof(std::int64_t) + 1);
  }
}

void attend(const Attend& work, Share share) {
  const HeadsShape& s = work.shape;
  const int strips = strips_of(s.tokens);
  const Range items = part_of(s.heads * s.pictures * strips, share);
  auto& scratch = work.scratch->part(share.index);
  for (int item = items.first; item < items.last; ++item) {
    const int index = item / strips;
    // Only read from here on.
    const Head head = head_at(s, const_cast<void*>(work.packed), index);
    attend_strip(work, head, index, item % strips, scratch);
  }
}

}  // namespace saccade::engine::kernels
