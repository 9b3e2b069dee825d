#pragma once
// The VisionEncoder on our own towers. Pictures of equal size, of any views and sessions, are
// encoded in one graph. What a view becomes and what stands around it in a prompt is its family's
// matter. Threads: the owner of the device.
#include <memory>
#include <vector>

#include "engine/llama/handles.h"
#include "engine/models/load_tower.h"
#include "engine/native/view_family.h"
#include "engine/vision_encoder.h"

namespace saccade::engine::native {

class NativeVision final : public VisionEncoder {
 public:
  struct Parts {
    llama::WeightsPtr text;  // vocabulary of the text model
    std::shared_ptr<Device> device;
    std::unique_ptr<gguf::WeightFile> mmproj;  // models::serves_tower
  };
  // Errors: kModelUnusable.
  static core::Result<std::unique_ptr<VisionEncoder>> create(Parts parts);

  const VisionTraits& traits() const override { return traits_; }
  core::Result<EncodedViewPtr> encode(const core::PixelView& view, ViewPlace place) override;
  core::Result<std::vector<EncodedViewPtr>> encode_all(
      const std::vector<ViewRequest>& requests) override;

 private:
  NativeVision(std::shared_ptr<Device> device, std::unique_ptr<models::Tower> tower,
               std::unique_ptr<ViewFamily> family)
      : device_(std::move(device)), tower_(std::move(tower)), family_(std::move(family)) {}
  core::Status check(const ViewRequest& request) const;
  core::Result<std::vector<VisualSpanPtr>> encode_pictures(
      const std::vector<ViewFamily::Picture>& pictures);

  const std::shared_ptr<Device> device_;
  const std::unique_ptr<models::Tower> tower_;
  const std::unique_ptr<ViewFamily> family_;
  VisionTraits traits_;
};

}  // namespace saccade::engine::native
