#pragma once
// Towers that read squares of one size: patches, a class token where the file has one, learned
// positions. The class token stands first, as it was trained (Radford et al., "Learning
// transferable visual models from natural language supervision", 2021); libmtmd puts it last and
// gives every patch its neighbour's position (docs/decisions/0010). Threads: the device's owner.
#include "engine/models/tower.h"

namespace saccade::engine::models {

class SquareTower : public Tower {
 protected:
  using Tower::Tower;
  // After read_shape and once `merge` is known. Errors: kModelUnusable.
  core::Status load_input();
  std::vector<int> order_rows(PatchGrid grid) const override;
  bool takes(PatchGrid grid) const override;
  // Patches and class token with their positions, [width, rows * pictures].
  ggml_tensor* embed(Planned& planned);
  // Without the class token.
  ggml_tensor* patches_only(Planned& planned, ggml_tensor* x) const;

 private:
  Linear patch_;
  ggml_tensor* class_token_ = nullptr;  // F32 [width], may be absent
  ggml_tensor* positions_ = nullptr;    // F32 [width, grid_side^2, one more with a class token]
};

}  // namespace saccade::engine::models
