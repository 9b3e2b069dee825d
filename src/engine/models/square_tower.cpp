#include "engine/models/square_tower.h"

#include <ggml.h>

namespace saccade::engine::models {

core::Status SquareTower::load_input() {
  if (auto status =
          check(shape_.picture_side % shape_.patch == 0 && shape_.grid_side() % shape_.merge == 0,
                "they do not divide each other");
      !status) {
    return status;
  }
  const int width = shape_.width;
  shape_.patches_max = shape_.grid_side() * shape_.grid_side();
  if (file_->has("v.class_embd")) {
    auto token = file_->load_f32("v.class_embd", {width});
    if (!token) return token.error();
    class_token_ = *token;
  }
  const int rows = shape_.patches_max + (class_token_ != nullptr ? 1 : 0);
  auto positions = file_->load_f32("v.position_embd.weight", {width, rows});
  if (!positions) return positions.error();
  positions_ = *positions;
  return load_product(
      {{"v.patch_embd.weight"}, {"v.patch_embd.bias"}, shape_.patch_values(), width}, patch_);
}

std::vector<int> SquareTower::order_rows(PatchGrid grid) const {
  auto out = Tower::order_rows(grid);
  if (class_token_ != nullptr) out.insert(out.begin(), -1);
  return out;
}

bool SquareTower::takes(PatchGrid grid) const {
  return grid.columns == shape_.grid_side() && grid.rows == shape_.grid_side();
}

ggml_tensor* SquareTower::embed(Planned& planned) {
  Graph& graph = *planned.graph;
  ggml_context* context = graph.context();
  const PatchGrid grid = planned.grid;
  const std::int64_t width = shape_.width, rows = planned.rows(), pictures = planned.pictures;
  // Grids other than the tower's own read the position of the place they cover (Idefics3's rule:
  // floor of the fractional coordinate).
  const int side = shape_.grid_side(), first = class_token_ != nullptr ? 1 : 0;
  std::vector<std::int32_t> places;
  for (const int patch : planned.patch_of) {
    const int row = patch / grid.columns * side / grid.rows;
    const int column = patch % grid.columns * side / grid.columns;
    places.push_back(patch < 0 ? 0 : first + row * side + column);
  }
  ggml_tensor* at = constant(planned, GGML_TYPE_I32, {rows}, "positions", places.data());
  Rows cut = graph.rows(planned.patches);
  ggml_tensor* x = graph.multiply(cut, patch_);
  x = ggml_reshape_3d(context, x, width, grid.patches(), pictures);
  if (class_token_ != nullptr) {
    x = ggml_concat(context, ggml_repeat_4d(context, class_token_, width, 1, pictures, 1), x, 1);
  }
  x = ggml_add(context, x, ggml_get_rows(context, positions_, at));
  return ggml_set_name(ggml_reshape_2d(context, x, width, rows * pictures), "embedded");
}

ggml_tensor* SquareTower::patches_only(Planned& planned, ggml_tensor* x) const {
  if (class_token_ == nullptr) return x;
  ggml_context* context = planned.graph->context();
  const std::int64_t patches = planned.grid.patches();
  x = ggml_view_3d(context, x, shape_.width, patches, planned.pictures, x->nb[1],
                   x->nb[1] * static_cast<std::size_t>(planned.rows()), x->nb[1]);
  return ggml_cont_2d(context, x, shape_.width, patches * planned.pictures);
}

}  // namespace saccade::engine::models
