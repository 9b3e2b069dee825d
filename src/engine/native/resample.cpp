#include "engine/native/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace saccade::engine::native {
namespace {

constexpr int kFixedBits = 22;

double weight_at(Filter filter, double x) {
  x = std::abs(x);
  if (filter == Filter::kBilinear) return x < 1 ? 1 - x : 0;
  constexpr double kSharpness = -0.5;
  if (x < 1) return ((kSharpness + 2) * x - (kSharpness + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * kSharpness;
  return 0;
}

// Input pixels and their weights for one output pixel.
struct Taps {
  int first = 0;
  std::vector<std::int32_t> weights;
};

std::vector<Taps> make_taps(int in, int out, Filter filter) {
  const double scale = static_cast<double>(in) / out;
  const double widen = std::max(scale, 1.0);
  const double reach = (filter == Filter::kBilinear ? 1.0 : 2.0) * widen;
  std::vector<Taps> all(static_cast<std::size_t>(out));
  for (int i = 0; i < out; ++i) {
    const double centre = (i + 0.5) * scale;
    Taps& taps = all[static_cast<std::size_t>(i)];
    taps.first = std::max(static_cast<int>(centre - reach + 0.5), 0);
    const int last = std::min(static_cast<int>(centre + reach + 0.5), in);
    std::vector<double> weights;
    double sum = 0;
    for (int j = taps.first; j < last; ++j) {
      weights.push_back(weight_at(filter, (j - centre + 0.5) * (1.0 / widen)));
      sum += weights.back();
    }
    for (double& w : weights) {
      if (sum != 0) w /= sum;
      const double fixed = std::ldexp(w, kFixedBits);
      taps.weights.push_back(static_cast<std::int32_t>(fixed + (fixed < 0 ? -0.5 : 0.5)));
    }
  }
  return all;
}

std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kFixedBits, 0, 255));
}

// One output row: its pixels from a row of input pixels.
void squeeze_row(const std::uint8_t* in, const std::vector<Taps>& columns, std::uint8_t* out) {
  for (const Taps& taps : columns) {
    std::int32_t sum[core::kRgbBytes];
    std::fill_n(sum, core::kRgbBytes, 1 << (kFixedBits - 1));
    const std::uint8_t* pixel = in + std::ptrdiff_t{core::kRgbBytes} * taps.first;
    for (const std::int32_t w : taps.weights) {
      for (int c = 0; c < core::kRgbBytes; ++c) sum[c] += w * *pixel++;
    }
    for (const std::int32_t s : sum) *out++ = to_byte(s);
  }
}

}  // namespace

std::vector<std::uint8_t> resample(const core::PixelView& view, int width, int height,
                                   Filter filter) {
  const auto step = static_cast<std::size_t>(width) * core::kRgbBytes;
  std::vector<std::uint8_t> squeezed(step * static_cast<std::size_t>(view.height));
  const auto columns = make_taps(view.width, width, filter);
  for (int y = 0; y < view.height; ++y) {
    std::uint8_t* row = squeezed.data() + static_cast<std::size_t>(y) * step;
    if (view.width == width) {
      std::memcpy(row, view.row(y), step);
    } else {
      squeeze_row(view.row(y), columns, row);
    }
  }
  if (view.height == height) return squeezed;
  std::vector<std::uint8_t> out(step * static_cast<std::size_t>(height));
  std::vector<std::int32_t> sums(step);
  const auto rows = make_taps(view.height, height, filter);
  for (int y = 0; y < height; ++y) {
    const Taps& taps = rows[static_cast<std::size_t>(y)];
    std::fill(sums.begin(), sums.end(), 1 << (kFixedBits - 1));
    const std::uint8_t* in = squeezed.data() + static_cast<std::size_t>(taps.first) * step;
    for (const std::int32_t w : taps.weights) {
      for (std::size_t i = 0; i < step; ++i) sums[i] += w * in[i];
      in += step;
    }
    std::transform(sums.begin(), sums.end(), out.begin() + static_cast<std::ptrdiff_t>(y * step),
                   to_byte);
  }
  return out;
}

}  // namespace saccade::engine::native
