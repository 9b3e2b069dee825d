#pragma once
// InternVL's tower: InternViT (class token, scaled layers), pixel shuffle, norm and two products.
// Source: Chen et al., "InternVL: scaling up vision foundation models", 2024.
// Threads: the device's owner.
#include "engine/models/square_tower.h"

namespace saccade::engine::models {

class InternTower final : public SquareTower {
 public:
  // The tower of 6B parameters (norms on query and key) is left to llama.cpp.
  static bool serves(const gguf::WeightFile& file);
  // Errors: kModelUnusable.
  static core::Result<std::unique_ptr<Tower>> load(std::unique_ptr<gguf::WeightFile> file,
                                                   Device& device);

 private:
  using SquareTower::SquareTower;
  core::Status read();
  core::Status read_projector();
  ggml_tensor* build(Planned& planned) override;

  Norm before_projector_;
  Linear project_in_, project_out_;
};

}  // namespace saccade::engine::models
