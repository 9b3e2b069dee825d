#pragma once
// Timing and telling shared by the benchmarks of single parts.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

namespace saccade::bench {

inline double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// Repeated measurements of one thing. At least one before it is read.
struct Series {
  std::vector<double> values;

  double median() {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
  // As a member of a JSON object that goes on.
  void print(const char* name) {
    const double middle = median();
    std::printf("\"%s\": {\"value\": %.3f, \"samples\": %zu, \"low\": %.3f, \"high\": %.3f}, ",
                name, middle, values.size(), values.front(), values.back());
  }
};

}  // namespace saccade::bench
