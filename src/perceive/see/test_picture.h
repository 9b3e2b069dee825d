#pragma once
// Pictures for this folder's tests: a grey plane with coloured patches and, if wanted, noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include "core/pixels.h"
#include "core/rng.h"

namespace saccade::perceive {

class TestPicture {
 public:
  TestPicture(int width, int height, std::uint8_t grey, int padding_bytes = 0)
      : width_(width),
        height_(height),
        stride_(width * core::kRgbBytes + padding_bytes),
        bytes_(static_cast<std::size_t>(stride_) * height, grey) {}

  void fill(core::Rect area, std::array<std::uint8_t, 3> colour) {
    const core::Rect r = core::clip(area, width_, height_);
    for (int y = r.y; y < r.y + r.height; ++y) {
      for (int x = r.x; x < r.x + r.width; ++x) {
        std::copy(colour.begin(), colour.end(), at(x, y));
      }
    }
  }

  void fill_padding(std::uint8_t value) {
    for (int y = 0; y < height_; ++y) std::fill(at(width_, y), at(0, y) + stride_, value);
  }

  // A copy with normal noise of deviation `sigma` on each channel.
  TestPicture with_noise(double sigma, core::Rng& rng) const {
    TestPicture out(width_, height_, 0);
    const auto noisy = [sigma](std::uint8_t value, double normal) {
      return static_cast<std::uint8_t>(std::clamp(std::lround(value + sigma * normal), 0L, 255L));
    };
    for (int y = 0; y < height_; ++y) {
      for (int i = 0; i < width_ * core::kRgbBytes; i += 2) {  // Box and Muller give two at once
        const double radius = std::sqrt(-2 * std::log(1 - rng.uniform()));
        const double angle = 2 * std::numbers::pi * rng.uniform();
        out.at(0, y)[i] = noisy(at(0, y)[i], radius * std::cos(angle));
        if (i + 1 == width_ * core::kRgbBytes) break;
        out.at(0, y)[i + 1] = noisy(at(0, y)[i + 1], radius * std::sin(angle));
      }
    }
    return out;
  }

  core::PixelView view() const { return {bytes_.data(), width_, height_, stride_}; }
  // A copy in a slot of its own.
  core::Pixels pixels() const {
    auto slot = std::make_shared<const std::vector<std::uint8_t>>(bytes_);
    core::Pixels out;
    out.data = std::shared_ptr<const std::uint8_t>(slot, slot->data());
    out.width = width_;
    out.height = height_;
    out.stride_bytes = stride_;
    return out;
  }

 private:
  std::uint8_t* at(int x, int y) { return bytes_.data() + offset(x, y); }
  const std::uint8_t* at(int x, int y) const { return bytes_.data() + offset(x, y); }
  std::ptrdiff_t offset(int x, int y) const { return y * stride_ + x * core::kRgbBytes; }

  int width_, height_;
  std::ptrdiff_t stride_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace saccade::perceive
