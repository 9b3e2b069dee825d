#pragma once
// Attention of every token to every token, as vision towers use it: no mask, one pass per picture.
// Scores of six queries at a time stay in the core's cache; the whole matrix never exists.
// Source: the row-block softmax of Rabe and Staats, "Self-attention does not need O(n^2) memory".
// Threads: pack_heads first by all workers, then, after all are done, attend by all workers.
#include <vector>

#include "engine/kernels/packed.h"

namespace saccade::engine::kernels {

// Rows of [query | key | value], each heads * size wide, for `pictures` of `tokens` rows each.
struct HeadsShape {
  int heads = 0, size = 0, tokens = 0, pictures = 1;
  int width() const { return heads * size; }
};

// Bytes of packed keys and values of all heads and pictures.
std::size_t packed_heads_bytes(const HeadsShape& shape);
void pack_heads(const HeadsShape& shape, const float* qkv, void* packed, Share share);

// Working memory of the workers, made once per graph.
class AttendScratch {
 public:
  AttendScratch(const HeadsShape& shape, int workers);
  struct Part {
    std::vector<float> scores;         // [6][tokens, padded to panels]
    std::vector<float> result;         // [6][size, padded to panels]
    std::vector<std::int64_t> packed;  // rows of queries, then of weights
  };
  Part& part(int worker) { return parts_[static_cast<std::size_t>(worker)]; }

 private:
  std::vector<Part> parts_;
};

// out [pictures * tokens][heads * size] = softmax(query key^T / sqrt(size)) value.
struct Attend {
  HeadsShape shape;
  const float* qkv = nullptr;
  const void* packed = nullptr;
  float* out = nullptr;
  AttendScratch* scratch = nullptr;
};
void attend(const Attend& work, Share share);

}  // namespace saccade::engine::kernels
