#pragma once
// What one line says: cut out, set upright, recognised, decoded. PpOcr joins it with the detector
// to a TextSense.
#include <cstdint>
#include <memory>
#include <vector>

#include "perceive/read/detect_text.h"
#include "perceive/read/text_models.h"
#include "perceive/read/text_sense.h"

namespace saccade::perceive {

// A crop this many times as tall as wide is a line turned by 90 degrees (or one tall character).
inline constexpr float kTallLine = 1.5F;

// `turns` quarters: corner i of the result is corner i + turns of `box`, so that turned text starts
// at corner 0 again. Pure.
Quad turned(const Quad& box, int turns);

core::Result<LineReading> recognize_line(TextModels& models, const core::PixelView& view,
                                         const Quad& box);

// PP-OCRv6 on OpenVINO. One thread at a time.
class PpOcr final : public TextSense {
 public:
  // Errors: kUsage (a value out of range), kModelUnusable.
  static core::Result<std::unique_ptr<PpOcr>> open(const TextModelOptions& options);
  core::Result<std::vector<FoundText>> detect(const core::PixelView& view,
                                              std::int64_t pixels_max) override;
  core::Result<LineReading> recognize(const core::PixelView& view, const Quad& box) override;

 private:
  explicit PpOcr(std::unique_ptr<TextModels> models) : models_(std::move(models)) {}
  std::unique_ptr<TextModels> models_;
};

}  // namespace saccade::perceive
