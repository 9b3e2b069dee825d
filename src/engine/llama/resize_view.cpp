// Columns first, then rows; weights are computed once per output line and normalised, so flat areas
// stay flat.
#include "engine/llama/resize_view.h"

#include <algorithm>
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
  std::vector<float> middle(out_row * static_cast<std::size_t>(view.height));
  for (int y = 0; y < view.height; ++y) {
    const std::uint8_t* in = view.row(y);
    float* line = middle.data() + static_cast<std::size_t>(y) * out_row;
    for (const Taps& t : columns) {
      const std::uint8_t* p = in + static_cast<std::ptrdiff_t>(t.first) * core::kRgbBytes;
      float r = 0, g = 0, b = 0;
      for (const float w : t.weight) {
        r += w * p[0];
        g += w * p[1];
        b += w * p[2];
        p += core::kRgbBytes;
      }
      *line++ = r;
      *line++ = g;
      *line++ = b;
    }
  }
  const auto rows = make_taps(view.height, height);
  std::vector<float> sum(out_row);
  for (int y = 0; y < height; ++y) {
    const Taps& t = rows[static_cast<std::size_t>(y)];
    std::fill(sum.begin(), sum.end(), 0.0F);
    for (std::size_t k = 0; k < t.weight.size(); ++k) {
      const float w = t.weight[k];
      const float* line = middle.data() + (static_cast<std::size_t>(t.first) + k) * out_row;
      for (std::size_t x = 0; x < out_row; ++x) sum[x] += w * line[x];
    }
    std::uint8_t* line = out.data() + static_cast<std::size_t>(y) * out_row;
    for (std::size_t x = 0; x < out_row; ++x) line[x] = to_byte(sum[x]);
  }
  return out;
}

}  // namespace saccade::engine::llama
