#include "engine/models/siglip.h"

#include <ggml.h>

#include <utility>

namespace saccade::engine::models {

core::Result<std::unique_ptr<Tower>> Siglip::load(std::unique_ptr<gguf::WeightFile> file,
                                                  Device& device) {
  std::unique_ptr<Siglip> out(new Siglip(std::move(file), device));
  if (auto status = out->read(); !status) return status.error();
  return std::unique_ptr<Tower>(std::move(out));
}

core::Status Siglip::read() {
  if (auto status = read_shape(); !status) return status;
  const auto merge = whole("clip.vision.projector.scale_factor");
  if (!merge) return merge.error();
  shape_.merge = *merge;
  if (auto status =
          check(shape_.picture_side % shape_.patch == 0 && shape_.grid_side() % shape_.merge == 0,
                "they do not divide each other");
      !status) {
    return status;
  }
  const auto connector = file_->shape("mm.model.fc.weight");
  if (!connector || connector->size() != 2) {
    return file_->unusable("tensor 'mm.model.fc.weight' is missing");
  }
  shape_.out_width = static_cast<int>((*connector)[1]);
  const int width = shape_.width, side = shape_.grid_side();
  shape_.patches_max = side * side;
  auto positions = file_->load_f32("v.position_embd.weight", {width, shape_.patches_max});
  if (!positions) return positions.error();
  positions_ = *positions;
  if (auto status = load_product(
          {{"v.patch_embd.weight"}, {"v.patch_embd.bias"}, shape_.patch_values(), width}, patch_);
      !status) {
    return status;
  }
  if (auto status = load_layers(shape_.layers); !status) return status;
  if (auto status = load_norm("v.post_ln", width, shape_.epsilon, last_); !status) return status;
  return load_product(
      {{"mm.model.fc.weight"}, {}, width * shape_.merge * shape_.merge, shape_.out_width},
      connector_);
}

bool Siglip::takes(PatchGrid grid) const {
  return grid.columns <= shape_.grid_side() && grid.rows <= shape_.grid_side();
}

ggml_tensor* Siglip::build(Planned& planned) {
  Graph& graph = *planned.graph;
  ggml_context* context = graph.context();
  const PatchGrid grid = planned.grid;
  // Grids other than the model's own read the position of the place they cover (Idefics3's rule:
  // floor of the fractional coordinate).
  const int side = shape_.grid_side();
  std::vector<std::int32_t> places;
  for (int i = 0; i < grid.patches(); ++i) {
    places.push_back(i / grid.columns * side / grid.rows * side +
                     i % grid.columns * side / grid.columns);
  }
  ggml_tensor* at = constant(planned, GGML_TYPE_I32, {grid.patches()}, "positions", places.data());
  Rows cut = graph.rows(planned.patches);
  ggml_tensor* x = graph.multiply(cut, patch_);
  x = ggml_reshape_3d(context, x, shape_.width, grid.patches(), planned.pictures);
  x = ggml_add(context, x, ggml_get_rows(context, positions_, at));
  x = ggml_reshape_2d(context, x, shape_.width, std::int64_t{grid.patches()} * planned.pictures);
  const auto groups = planned.whole_pictures(shape_);
  for (int i = 0; i < shape_.layers; ++i) x = build_layer(planned, i, x, {groups});
  x = ggml_set_name(graph.normalise(x, last_), "last");
  Rows shuffled = graph.rows(shuffle(planned, x));
  return graph.multiply(shuffled, connector_);
}

}  // namespace saccade::engine::models
