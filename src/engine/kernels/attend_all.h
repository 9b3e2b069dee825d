#pragma once
// Attention of every token to every token of its group, as vision towers use it: no mask; a group
// is a picture or a window of one. Scores of six queries at a time stay in the core's cache; the
// whole matrix never exists. Source: the row-block softmax of Rabe and Staats, "Self-attention does
// not need O(n^2) memory". Threads: pack_heads first by all workers, then, after all are done,
// attend by all workers.
#include <vector>

#include "engine/kernels/packed.h"

namespace saccade::engine::kernels {

// Rows of [query | key | value], each heads * size wide; group g has the rows from starts[g] up to
// starts[g + 1].
struct HeadsShape {
  HeadsShape(int heads_in, int size_in, std::vector<int> starts_in);
  int heads, size;
  std::vector<int> starts;
  int rows_max = 0;  // of a group
  int width() const { return heads * size; }
  int groups() const { return static_cast<int>(starts.size()) - 1; }
  int rows() const { return starts.back(); }
  int rows_of(int group) const {
    return starts[static_cast<std::size_t>(group) + 1] - starts[static_cast<std::size_t>(group)];
  }
};
// `count` groups of `rows` each.
std::vector<int> equal_groups(int rows, int count);

// Bytes of packed keys and values of all heads and groups.
std::size_t packed_heads_bytes(const HeadsShape& shape);
void pack_heads(const HeadsShape& shape, const float* qkv, void* packed, Share share);

// Working memory of the workers, made once per graph.
class AttendScratch {
 public:
  AttendScratch(const HeadsShape& shape, int workers);
  struct Part {
    std::vector<float> scores;         // [6][rows of a group, padded to panels]
    std::vector<float> result;         // [6][size, padded to panels]
    std::vector<std::int64_t> packed;  // rows of queries, then of weights
  };
  Part& part(int worker) { return parts_[static_cast<std::size_t>(worker)]; }

 private:
  std::vector<Part> parts_;
};

// out [rows][heads * size] = softmax(query key^T / sqrt(size)) value, group by group.
struct Attend {
  HeadsShape shape;
  const float* qkv = nullptr;
  const void* packed = nullptr;
  float* out = nullptr;
  AttendScratch* scratch = nullptr;
};
void attend(const Attend& work, Share share);

}  // namespace saccade::engine::kernels
