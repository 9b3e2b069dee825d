#pragma once
// Reading without weights: a made-up writing. A line is a filled rectangle of blue 255 whose red
// level names its text; nothing else in the scripted pictures is that blue.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "perceive/read/text_sense.h"

namespace saccade::golden {

// Far enough apart for the change map.
constexpr std::uint8_t red_of(int text) { return static_cast<std::uint8_t>(60 * text); }

class FakeTextSense final : public perceive::TextSense {
 public:
  explicit FakeTextSense(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  core::Result<std::vector<perceive::FoundText>> detect(const core::PixelView& view,
                                                        std::int64_t) override {
    std::vector<perceive::FoundText> found;
    for (int y = 0; y < view.height; ++y) {
      for (int x = 0; x < view.width; ++x) {
        const bool corner =
            written(view, x, y) && !written(view, x - 1, y) && !written(view, x, y - 1);
        if (!corner) continue;
        int x1 = x, y1 = y;
        while (written(view, x1, y)) ++x1;
        while (written(view, x, y1)) ++y1;
        const auto left = static_cast<float>(x), top = static_cast<float>(y);
        const auto right = static_cast<float>(x1), bottom = static_cast<float>(y1);
        found.push_back({{{{left, top}, {right, top}, {right, bottom}, {left, bottom}}}, 0.9F});
      }
    }
    return found;
  }

  core::Result<perceive::LineReading> recognize(const core::PixelView& view,
                                                const perceive::Quad& box) override {
    perceive::LineReading reading;
    reading.box = box;
    reading.confidence = 0.97F;
    const auto x = static_cast<int>(box[0][0]), y = static_cast<int>(box[0][1]);
    const std::uint8_t red = view.row(y)[static_cast<std::ptrdiff_t>(x) * core::kRgbBytes];
    for (std::size_t text = 0; text < texts_.size(); ++text) {
      if (red_of(static_cast<int>(text)) != red) continue;
      for (const char c : texts_[text]) reading.characters.push_back({std::string(1, c), 0.97F});
    }
    return reading;
  }

 private:
  static bool written(const core::PixelView& view, int x, int y) {
    if (x < 0 || y < 0 || x >= view.width || y >= view.height) return false;
    return view.row(y)[static_cast<std::ptrdiff_t>(x) * core::kRgbBytes + 2] == 255;
  }

  const std::vector<std::string> texts_;
};

}  // namespace saccade::golden
