#pragma once
// What reading needs from a recogniser: where text stands and what a line says. TextReader sees
// only this; the PP-OCR implementation is PpOcr (recognize_line.h), tests hand in a scripted one.
// Threads: one at a time.
#include <cstdint>
#include <string>
#include <vector>

#include "core/pixels.h"
#include "core/result.h"
#include "perceive/perceive_types.h"

namespace saccade::perceive {

// One character as the recogniser saw it.
struct ReadCharacter {
  std::string text;  // one UTF-8 character
  float probability = 0;
};

// One look at one line.
struct LineReading {
  std::vector<ReadCharacter> characters;  // at most kTextLineBytesMax bytes together
  Quad box{};                             // from the text's own top left
  float confidence = 0;                   // 0..1, of the whole line
  float focus = 1;                        // 0..1, how sharp the pixels were; weight when voting
  std::string text() const {
    std::string joined;
    for (const ReadCharacter& character : characters) joined += character.text;
    return joined;
  }
};

// A place where text seems to stand, before it is read.
struct FoundText {
  Quad box{};
  float score = 0;  // 0..1
};

class TextSense {
 public:
  virtual ~TextSense() = default;
  // Boxes in pixels of `view`, in no order, at most kTextLinesMax, best first when there are more.
  // A view above `pixels_max` may be scaled down for it.
  virtual core::Result<std::vector<FoundText>> detect(const core::PixelView& view,
                                                      std::int64_t pixels_max) = 0;
  // Reads the line inside `box`. No characters when nothing legible stands there.
  virtual core::Result<LineReading> recognize(const core::PixelView& view, const Quad& box) = 0;
};

}  // namespace saccade::perceive
