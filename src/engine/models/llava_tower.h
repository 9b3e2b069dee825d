#pragma once
// The towers of LLaVA 1.5 and its relatives: CLIP (class token, norm before the layers) or SigLIP,
// read at one layer before the last, and a projector of one or two products.
// Source: Liu et al., "Improved baselines with visual instruction tuning", 2023.
// Threads: the device's owner.
#include "engine/models/square_tower.h"

namespace saccade::engine::models {

class LlavaTower final : public SquareTower {
 public:
  // LLaVA 1.6's grids of pictures, Yi's norms in the projector and several layers read together are
  // left to llama.cpp.
  static bool serves(const gguf::WeightFile& file);
  // Errors: kModelUnusable.
  static core::Result<std::unique_ptr<Tower>> load(std::unique_ptr<gguf::WeightFile> file,
                                                   Device& device);

 private:
  using SquareTower::SquareTower;
  core::Status read();
  core::Status read_feature_layer();
  core::Status read_projector();
  ggml_tensor* build(Planned& planned) override;

  Norm first_, last_;  // may be absent
  Linear project_in_, project_out_;
};

}  // namespace saccade::engine::models
