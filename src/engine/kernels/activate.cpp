#include "engine/kernels/activate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace saccade::engine::kernels {
namespace {

// e^x by 2^n * polynomial on [-ln2/2, ln2/2] (coefficients: Cephes expf). Plain arithmetic, so that
// loops over it become vector code. NaN stays NaN.
inline float exponential(float x) {
  constexpr float kLog2e = 1.44269504F, kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
  constexpr float kRound = 12'582'912.0F;  // 1.5 * 2^23
  const float bounded = x < -87.0F ? -87.0F : (x > 88.0F ? 88.0F : x);
  const float n = (bounded * kLog2e + kRound) - kRound;
  const float r = bounded - n * kLn2High - n * kLn2Low;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const auto bits = (static_cast<std::int32_t>(n) + 127) << 23;
  return p * std::bit_cast<float>(bits) + x * 0.0F;
}

inline float sigmoid(float x) { return 1.0F / (1.0F + exponential(-x)); }

template <class Function>
void each(float* x, std::size_t count, Function function) {
  for (std::size_t i = 0; i < count; ++i) x[i] = function(x[i]);
}

}  // namespace

void activate(Activation activation, float* x, std::size_t count) {
  switch (activation) {
    case Activation::kNone:
      return;
    case Activation::kGeluTanh:  // 0.5 x (1 + tanh(u)) = x * sigmoid(2 u)
      return each(x, count, [](float v) {
        constexpr float kRoot = 0.79788456F, kCube = 0.044715F;
        return v * sigmoid(2.0F * kRoot * v * (1.0F + kCube * v * v));
      });
    case Activation::kGeluErf:
      return each(x, count, [](float v) { return 0.5F * v * (1.0F + std::erf(v * 0.70710678F)); });
    case Activation::kGeluQuick:
      return each(x, count, [](float v) { return v * sigmoid(1.702F * v); });
    case Activation::kSilu:
      return each(x, count, [](float v) { return v * sigmoid(v); });
  }
}

float exponentials(float* x, std::size_t count, float most) {
  // Eight partial sums: the order does not depend on how the compiler vectorises.
  float sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) {
      x[i + j] = exponential(x[i + j] - most);
      sums[j] += x[i + j];
    }
  }
  float sum = 0;
  for (; i < count; ++i) {
    x[i] = exponential(x[i] - most);
    sum += x[i];
  }
  for (const float s : sums) sum += s;
  return sum;
}

float largest_of(const float* x, std::size_t count) {
  float most[8];
  std::fill_n(most, 8, x[0]);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) most[j] = x[i + j] > most[j] ? x[i + j] : most[j];
  }
  for (; i < count; ++i) most[0] = x[i] > most[0] ? x[i] : most[0];
  return *std::max_element(most, most + 8);
}

}  // namespace saccade::engine::kernels
