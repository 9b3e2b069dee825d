#include "engine/models/intern_tower.h"

#include <ggml.h>

#include <utility>

namespace saccade::engine::models {
namespace {

constexpr float kProjectorEpsilon = 1e-5F;  // no file says it

}  // namespace

bool InternTower::serves(const gguf::WeightFile& file) {
  return !file.has(layer_name(0, "attn_q_norm.weight"));
}

core::Result<std::unique_ptr<Tower>> InternTower::load(std::unique_ptr<gguf::WeightFile> file,
                                                       Device& device) {
  std::unique_ptr<InternTower> out(new InternTower(std::move(file), device));
  if (auto status = out->read(); !status) return status.error();
  return std::unique_ptr<Tower>(std::move(out));
}

core::Status InternTower::read() {
  if (auto status = read_shape(); !status) return status;
  const auto merge = whole("clip.vision.projector.scale_factor");
  if (!merge) return merge.error();
  shape_.merge = *merge;
  if (auto status = load_input(); !status) return status;
  if (auto status = load_layers(shape_.layers); !status) return status;
  return read_projector();
}

core::Status InternTower::read_projector() {
  const std::string in_name = "mm.model.mlp.1", out_name = "mm.model.mlp.3";
  const auto in = file_->shape(in_name + ".weight"), out = file_->shape(out_name + ".weight");
  if (!in || !out || in->size() != 2 || out->size() != 2) {
    return file_->unusable("tensors '" + in_name + ".weight' and '" + out_name +
                           ".weight' must be there");
  }
  const int merged = shape_.width * shape_.merge * shape_.merge;
  const int inner = static_cast<int>((*in)[1]);
  shape_.out_width = static_cast<int>((*out)[1]);
  if (auto status = load_norm("mm.model.mlp.0", merged, kProjectorEpsilon, before_projector_);
      !status) {
    return status;
  }
  if (auto status =
          load_product({{in_name + ".weight"}, {in_name + ".bias"}, merged, inner}, project_in_);
      !status) {
    return status;
  }
  return load_product({{out_name + ".weight"}, {out_name + ".bias"}, inner, shape_.out_width},
                      project_out_);
}

ggml_tensor* InternTower::build(Planned& planned) {
  Graph& graph = *planned.graph;
  ggml_tensor* x = embed(planned);
  const auto groups = planned.whole_pictures(shape_);
  for (int i = 0; i < shape_.layers; ++i) x = build_layer(planned, i, x, {groups});
  Rows shuffled = graph.rows(shuffle(planned, patches_only(planned, x)), before_projector_);
  x = graph.multiply(shuffled, project_in_, {kernels::Activation::kGeluTanh, nullptr});
  Rows inner = graph.rows(ggml_set_name(x, "projected"));
  return graph.multiply(inner, project_out_);
}

}  // namespace saccade::engine::models
