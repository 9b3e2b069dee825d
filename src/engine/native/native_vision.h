#pragma once
// The VisionEncoder on our own tower, for Idefics3 and SmolVLM. One view is one square; views of
// several sessions can be encoded in one graph. Text side (wrappers, grid) is the llama room's.
// Threads: the owner of the device.
#include <memory>
#include <vector>

#include "engine/llama/handles.h"
#include "engine/llama/idefics3.h"
#include "engine/llama/tokenizer.h"
#include "engine/models/siglip.h"
#include "engine/vision_encoder.h"

namespace saccade::engine::native {

class NativeVision final : public VisionEncoder {
 public:
  // The family has a tower here and its weights are of a kind that it takes.
  static bool serves(const gguf::WeightFile& mmproj);
  struct Parts {
    llama::WeightsPtr text;  // vocabulary of the text model
    std::shared_ptr<Device> device;
    std::unique_ptr<gguf::WeightFile> mmproj;
  };
  // Errors: kModelUnusable.
  static core::Result<std::unique_ptr<VisionEncoder>> create(Parts parts);

  const VisionTraits& traits() const override { return traits_; }
  core::Result<EncodedViewPtr> encode(const core::PixelView& view, ViewPlace place) override;
  core::Result<std::vector<EncodedViewPtr>> encode_all(
      const std::vector<ViewRequest>& requests) override;

 private:
  NativeVision(Parts parts, std::unique_ptr<models::Siglip> tower);

  const llama::WeightsPtr text_;
  const std::shared_ptr<Device> device_;
  const std::unique_ptr<models::Siglip> tower_;
  const llama::Tokenizer tokenizer_;
  const llama::Idefics3 family_;
  VisionTraits traits_;
};

}  // namespace saccade::engine::native
