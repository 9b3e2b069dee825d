#pragma once
// The towers of Qwen2-VL, Qwen2.5-VL and Qwen3-VL: pictures of any size, rotary positions in two
// dimensions, 2 x 2 patches merged by two layers. Qwen2.5-VL: most layers attend inside windows of
// 112 pixels, root-mean-square norms, gated layers. Qwen3-VL: learned positions, stretched over the
// picture, beside the rotary ones, and what some layers give is handed to the first layers of the
// decoder too (DeepStack). Source: Wang et al., "Qwen2-VL", 2024; Bai et al., "Qwen2.5-VL technical
// report", 2025; Meng et al., "DeepStack", 2024. Threads: the device's owner.
#include "engine/models/tower.h"

namespace saccade::engine::models {

class QwenTower final : public Tower {
 public:
  // "qwen2vl_merger", "qwen2.5vl_merger" or "qwen3vl_merger". Errors: kModelUnusable.
  static core::Result<std::unique_ptr<Tower>> load(std::unique_ptr<gguf::WeightFile> file,
                                                   Device& device);
  // Tokens of a picture at most, as the published processors have it; at least kTokensMin.
  static constexpr int kTokensMin = 8, kTokensMax = 4096;

 private:
  // Merges patches: four in a row, normalised, through two layers.
  struct Merger {
    Norm norm;  // over the merged row; absent where it comes before the merge
    Linear in, out;
  };
  using Tower::Tower;
  core::Status read();
  core::Status read_merger();
  core::Status read_deep(int layer);
  core::Status load_merger(const std::string& in, const std::string& out, Merger& to);
  bool takes(PatchGrid) const override { return true; }
  int probed_layer() const override;
  std::vector<int> order_rows(PatchGrid grid) const override;
  ggml_tensor* build(Planned& planned) override;
  ggml_tensor* build_turns(Planned& planned);
  ggml_tensor* add_positions(Planned& planned, ggml_tensor* x);
  ggml_tensor* merge(Planned& planned, const Merger& merger, ggml_tensor* x) const;
  kernels::HeadsShape windows(const Planned& planned) const;
  bool sees_all(int layer) const { return pattern_ == 0 || (layer + 1) % pattern_ == 0; }

  int pattern_ = 0;      // every pattern_-th layer sees the whole picture; 0 = every one
  int window_side_ = 0;  // of a window, in tokens
  // Two products: a still picture is its own next frame.
  Linear patch_, patch_next_;
  Merger merger_;
  std::vector<std::pair<int, Merger>> deep_;  // layer and what it is merged with
  ggml_tensor* positions_ = nullptr;          // F32 [width, grid_side^2], may be absent
  Norm last_;
};

}  // namespace saccade::engine::models
