#pragma once
// Seeded randomness, handed in like the clock. SplitMix64 (Steele, Lea, Flood: "Fast splittable
// pseudorandom number generators", 2014): tiny, and the same numbers on every platform.
#include <cstdint>

namespace saccade::core {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // Uniform in [low, high]; `low` when the range is empty.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    if (high <= low) return low;
    // Unsigned, because the difference of two ends need not fit a signed number; 0 = all 2^64.
    const std::uint64_t base = static_cast<std::uint64_t>(low);
    const std::uint64_t count = static_cast<std::uint64_t>(high) - base + 1;
    return static_cast<std::int64_t>(base + (count == 0 ? next() : next() % count));
  }

 private:
  std::uint64_t state_;
};

}  // namespace saccade::core
