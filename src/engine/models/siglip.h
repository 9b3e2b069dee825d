#pragma once
// The SigLIP tower with Idefics3's connector (SmolVLM): pre-norm transformer over square patches,
// learned positions, pixel shuffle, one projection.
// Source: Zhai et al., "Sigmoid loss for language image pre-training", 2023; Laurencon et al.,
// "Building and better understanding vision-language models" (Idefics3), 2024.
// Threads: the device's owner.
#include "engine/models/square_tower.h"

namespace saccade::engine::models {

class Siglip final : public SquareTower {
 public:
  // Errors: kModelUnusable with the tensor or key that is wrong.
  static core::Result<std::unique_ptr<Tower>> load(std::unique_ptr<gguf::WeightFile> file,
                                                   Device& device);

 private:
  using SquareTower::SquareTower;
  core::Status read();
  bool takes(PatchGrid grid) const override;  // smaller ones too
  ggml_tensor* build(Planned& planned) override;

  Linear connector_;
  Norm last_;
};

}  // namespace saccade::engine::models
