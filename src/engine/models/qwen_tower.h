#pragma once
// The towers of Qwen2-VL and Qwen2.5-VL: pictures of any size, rotary positions in two dimensions,
// 2 x 2 patches merged by two layers. Qwen2.5-VL: most layers attend inside windows of 112 pixels,
// root-mean-square norms, gated layers.
// Source: Wang et al., "Qwen2-VL", 2024; Bai et al., "Qwen2.5-VL technical report", 2025.
// Threads: the device's owner.
#include "engine/models/tower.h"

namespace saccade::engine::models {

class QwenTower final : public Tower {
 public:
  // "qwen2vl_merger" or "qwen2.5vl_merger". Errors: kModelUnusable.
  static core::Result<std::unique_ptr<Tower>> load(std::unique_ptr<gguf::WeightFile> file,
                                                   Device& device);
  // Tokens of a picture at most, as the published processors have it; at least kTokensMin.
  static constexpr int kTokensMin = 8, kTokensMax = 4096;

 private:
  using Tower::Tower;
  core::Status read();
  core::Status read_merger();
  bool takes(PatchGrid) const override { return true; }
  int probed_layer() const override;
  std::vector<int> order_rows(PatchGrid grid) const override;
  ggml_tensor* build(Planned& planned) override;
  ggml_tensor* build_turns(Planned& planned);
  kernels::HeadsShape windows(const Planned& planned) const;
  bool sees_all(int layer) const { return pattern_ == 0 || (layer + 1) % pattern_ == 0; }

  int pattern_ = 0;      // every pattern_-th layer sees the whole picture; 0 = every one
  int window_side_ = 0;  // of a window, in tokens
  // Two products: a still picture is its own next frame.
  Linear patch_, patch_next_, merge_in_, merge_out_;
  Norm last_;
};

}  // namespace saccade::engine::models
