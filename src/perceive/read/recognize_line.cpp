#include "perceive/read/recognize_line.h"

#include <cmath>
#include <string>
#include <utility>

#include "perceive/read/decode_ctc.h"
#include "perceive/read/model_picture.h"

namespace saccade::perceive {
namespace {

// A turned line read with less than this is tried the other way round too.
constexpr float kTurnedSure = 0.9F;
// Taller than this it can be no single character, so it is not tried upright.
constexpr float kTallCharacter = 3.5F;

core::Result<LineReading> read_upright(TextModels& models, const core::PixelView& view,
                                       const Quad& box) {
  const LinePixels line = cut_line(view, box);
  std::vector<CtcStep> steps;
  for (const LinePiece& piece : line_pieces(line)) {
    auto columns = models.recognize(piece.picture);
    if (!columns) return columns.error();
    if (columns->size() > static_cast<std::size_t>(piece.steps)) {
      columns->resize(static_cast<std::size_t>(piece.steps));
    }
    steps = steps.empty() ? std::move(*columns)
                          : join_steps(steps, *columns, kPieceOverlap / kColumnsPerStep);
  }
  LineReading reading;
  reading.characters = decode_ctc(steps, models.symbols());
  reading.confidence = line_confidence(reading.characters);
  reading.box = box;
  reading.focus = line.focus;
  return reading;
}

float tallness(const Quad& box) {
  const float width = std::hypot(box[1][0] - box[0][0], box[1][1] - box[0][1]);
  const float height = std::hypot(box[2][0] - box[1][0], box[2][1] - box[1][1]);
  return width > 0 ? height / width : 0;
}

}  // namespace

Quad turned(const Quad& box, int turns) {
  Quad out;
  for (int i = 0; i < 4; ++i) {
    out[static_cast<std::size_t>(i)] = box[static_cast<std::size_t>((i + turns) & 3)];
  }
  return out;
}

core::Result<LineReading> recognize_line(TextModels& models, const core::PixelView& view,
                                         const Quad& box) {
  const float tall = tallness(box);
  if (tall < kTallLine) return read_upright(models, view, box);
  // Most turned lines read downward, their top at the right; fewer read upward; a box that is not
  // very tall may hold one upright character.
  auto best = read_upright(models, view, turned(box, 1));
  if (!best) return best;
  const bool unsure = best->confidence < kTurnedSure;
  const bool lone = tall < kTallCharacter && (unsure || best->characters.size() <= 1);
  for (const int turns : {3, 0}) {
    if (turns == 3 ? !unsure : !lone) continue;
    auto other = read_upright(models, view, turned(box, turns));
    if (!other) return other;
    if (other->confidence > best->confidence) best = std::move(other);
  }
  return best;
}

core::Result<std::unique_ptr<PpOcr>> PpOcr::open(const TextModelOptions& options) {
  auto models = TextModels::load(options);
  if (!models) return models.error();
  return std::unique_ptr<PpOcr>(new PpOcr(std::move(*models)));
}

core::Result<std::vector<FoundText>> PpOcr::detect(const core::PixelView& view,
                                                   std::int64_t pixels_max) {
  DetectOptions options;
  options.pixels_max = pixels_max;
  return detect_text(*models_, view, options);
}

core::Result<LineReading> PpOcr::recognize(const core::PixelView& view, const Quad& box) {
  return recognize_line(*models_, view, box);
}

}  // namespace saccade::perceive
