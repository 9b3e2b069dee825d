// Rows first, since sums of whole rows are vector work and leave fewer rows to the other direction;
// weights are computed once per output line and normalised, so flat areas stay flat.
#include "engine/llama/resize_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

namespace saccade::engine::llama {
namespace {

constexpr double kLobes = 3.0;

struct Taps {
  int first = 0;              // input index of the first weight
  std::vector<float> weight;  // sums to 1
};

double lanczos(double x) {
  if (std::abs(x) < 1e-9) return 1.0;
  if (std::abs(x) >= kLobes) return 0.0;
  const double p = std::numbers::pi * x;
  return kLobes * std::sin(p) * std::sin(p / kLobes) / (p * p);
}

std::vector<Taps> make_taps(int in, int out) {
  const double scale = static_cast<double>(in) / out;
  const double widen = std::max(scale, 1.0);
  std::vector<Taps> taps(static_cast<std::size_t>(out));
  for (int i = 0; i < out; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(centre - kLobes * widen + 0.5));
    const int last = std::min(in, static_cast<int>(centre + kLobes * widen + 0.5));
    Taps& t = taps[static_cast<std::size_t>(i)];
    t.first = std::min(first, in - 1);
    double sum = 0;
    for (int j = t.first; j < std::max(last, t.first + 1); ++j) {
      t.weight.push_back(static_cast<float>(lanczos((j + 0.5 - centre) / widen)));
      sum += t.weight.back();
    }
    if (sum == 0) {
      t.weight[0] = 1;
      sum = 1;
    }
    for (float& w : t.weight) w = static_cast<float>(w / sum);
  }
  return taps;
}

std::uint8_t to_byte(float x) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(x), 0L, 255L));
}

void add_row(const std::uint8_t* in, float weight, std::size_t count, float* sum) {
  for (std::size_t x = 0; x < count; ++x) sum[x] += weight * static_cast<float>(in[x]);
}

// One output pixel from a row of RGB floats; the fourth lane is there for the vector's sake.
std::uint8_t* put_pixel(const float* row, const Taps& taps, std::uint8_t* out) {
  constexpr std::size_t kLanes = 4;
  const float* p = row + static_cast<std::ptrdiff_t>(taps.first) * core::kRgbBytes;
  std::array<float, kLanes> sum{};
  for (const float w : taps.weight) {
    for (std::size_t i = 0; i < kLanes; ++i) sum[i] += w * p[i];
    p += core::kRgbBytes;
  }
  for (std::size_t i = 0; i < core::kRgbBytes; ++i) *out++ = to_byte(sum[i]);
  return out;
}

}  // namespace

std::vector<std::uint8_t> resize_view(const core::PixelView& view, int width, int height) {
  const auto out_row = static_cast<std::size_t>(width) * core::kRgbBytes;
  std::vector<std::uint8_t> out(out_row * static_cast<std::size_t>(height));
  if (view.width == width && view.height == height) {
    for (int y = 0; y < height; ++y) {
      std::memcpy(out.data() + static_cast<std::size_t>(y) * out_row, view.row(y), out_row);
    }
    return out;
  }
  const auto columns = make_taps(view.width, width);
  const auto rows = make_taps(view.height, height);
  const std::size_t in_row = static_cast<std::size_t>(view.width) * core::kRgbBytes;
  std::vector<float> sum(in_row + 1);  // read four at a time
  for (int y = 0; y < height; ++y) {
    const Taps& t = rows[static_cast<std::size_t>(y)];
    std::fill(sum.begin(), sum.end(), 0.0F);
    for (std::size_t k = 0; k < t.weight.size(); ++k) {
      add_row(view.row(t.first + static_cast<int>(k)), t.weight[k], in_row, sum.data());
    }
    std::uint8_t* line = out.data() + static_cast<std::size_t>(y) * out_row;
    for (const Taps& column : columns) line = put_pixel(sum.data(), column, line);
  }
  return out;
}

}  // namespace saccade::engine::llama
