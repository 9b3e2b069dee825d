#pragma once
// The VisionEncoder on libmtmd. Idefics3 and SmolVLM: we own the tiling, one view is one square of
// the tower's own size and costs one pass. Every other family: mtmd prepares the view as it does
// for llama.cpp, with all tiles and wrappers.
#include <memory>
#include <utility>

#include "engine/gguf/inspect_gguf.h"
#include "engine/llama/handles.h"
#include "engine/llama/idefics3.h"
#include "engine/llama/tokenizer.h"
#include "engine/vision_encoder.h"

struct mtmd_input_chunk;

namespace saccade::engine::llama {

inline constexpr int kViewSideMax = 16'384;
// Views that other families prepare are brought into these bounds first (their code asserts).
inline constexpr int kForeignSideMin = 32;
inline constexpr int kForeignRatioMax = 50;
// Sides at least kForeignSideMin, ratio at most kForeignRatioMax, otherwise unchanged.
std::pair<int, int> foreign_size(int width, int height);

class LlamaVision final : public VisionEncoder {
 public:
  // `mmproj` is the header of the vision file. weights->mtmd is not null. Errors: kModelUnusable.
  static core::Result<std::unique_ptr<VisionEncoder>> create(WeightsPtr weights,
                                                             const gguf::OpenedHeader& mmproj);
  LlamaVision(WeightsPtr weights, VisionTraits traits, bool own_tiling);

  const VisionTraits& traits() const override { return traits_; }
  core::Result<EncodedViewPtr> encode(const core::PixelView& view, ViewPlace place) override;

 private:
  core::Result<VisualSpanPtr> encode_chunk(const mtmd_input_chunk* chunk);

  const WeightsPtr weights_;
  const VisionTraits traits_;
  const Tokenizer tokenizer_;
  const Idefics3 idefics3_;
  const bool own_tiling_;
};

}  // namespace saccade::engine::llama
