#pragma once
// How a family turns one view into pictures for its tower, and their tokens into a part of a
// prompt. Sizes, filters and wrappers are those of libmtmd, so both engines see the same pixels and
// the same text; where it and the families' own processors differ is said at the place. Threads:
// any, after construction.
#include <memory>
#include <vector>

#include "engine/llama/tokenizer.h"
#include "engine/models/tower.h"
#include "engine/vision_encoder.h"

namespace saccade::engine::native {

class ViewFamily {
 public:
  struct Picture {
    std::vector<std::uint8_t> rgb;  // [rows * patch][columns * patch][3]
    models::PatchGrid grid;
  };

  virtual ~ViewFamily() = default;
  // Adds what the family says about itself.
  virtual void describe(VisionTraits& traits) const = 0;
  // Pictures of a view, in the order of the prompt; at least one.
  virtual std::vector<Picture> cut(const core::PixelView& view) const = 0;
  // `spans` are those of cut's pictures; `place` is global or inside the grid that describe named.
  virtual EncodedView wrap(std::vector<VisualSpanPtr> spans, ViewPlace place) const = 0;
};

// The family of a vision file that a tower serves. Errors: kModelUnusable (the text model's
// vocabulary is another family's).
core::Result<std::unique_ptr<ViewFamily>> make_family(const gguf::Header& mmproj,
                                                      const models::TowerShape& tower,
                                                      const llama::Tokenizer& tokenizer);

}  // namespace saccade::engine::native
