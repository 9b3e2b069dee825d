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
  if (auto status = load_input(); !status) return status;
  const auto connector = file_->shape("mm.model.fc.weight");
  if (!connector || connector->size() != 2) {
    return file_->unusable("tensor 'mm.model.fc.weight' is missing");
  }
  shape_.out_width = static_cast<int>((*connector)[1]);
  const int width = shape_.width;
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
  ggml_tensor* x = embed(planned);
  const auto groups = planned.whole_pictures(shape_);
  for (int i = 0; i < shape_.layers; ++i) x = build_layer(planned, i, x, {groups});
  x = ggml_set_name(graph.normalise(x, last_), "last");
  Rows shuffled = graph.rows(shuffle(planned, x));
  return graph.multiply(shuffled, connector_);
}

}  // namespace saccade::engine::models
