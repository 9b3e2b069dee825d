#pragma once
// Where a token stands for rotation: in time, height and width. Text and visual tokens of families
// with one axis have all three equal; M-RoPE (Wang et al., "Qwen2-VL", 2024) spreads a picture over
// height and width. Moving a token adds the same to all three: turns of one axis add up, so a
// stored key is moved by turning it once more.
#include <cstdint>

namespace saccade::engine {

struct Position {
  std::int32_t t = 0, h = 0, w = 0;
  static Position at(std::int32_t place) { return {place, place, place}; }
  bool operator==(const Position&) const = default;
};

}  // namespace saccade::engine
