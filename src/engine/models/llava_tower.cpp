#include "engine/models/llava_tower.h"

#include <ggml.h>

#include <utility>

namespace saccade::engine::models {
namespace {

constexpr const char* kFeatureLayer = "clip.vision.feature_layer";

}  // namespace

bool LlavaTower::serves(const gguf::WeightFile& file) {
  const auto* features = file.header().find(kFeatureLayer);
  return file.header().find("clip.vision.image_grid_pinpoints") == nullptr &&
         !file.has("mm.3.weight") && (features == nullptr || features->items == 1);
}

core::Result<std::unique_ptr<Tower>> LlavaTower::load(std::unique_ptr<gguf::WeightFile> file,
                                                      Device& device) {
  std::unique_ptr<LlavaTower> out(new LlavaTower(std::move(file), device));
  if (auto status = out->read(); !status) return status.error();
  return std::unique_ptr<Tower>(std::move(out));
}

core::Status LlavaTower::read() {
  if (auto status = read_shape(); !status) return status;
  if (auto status = load_input(); !status) return status;
  if (auto status = read_feature_layer(); !status) return status;
  for (const auto& [name, to] : {std::pair{"v.pre_ln", &first_}, {"v.post_ln", &last_}}) {
    if (!file_->has(std::string(name) + ".weight")) continue;
    if (auto status = load_norm(name, shape_.width, shape_.epsilon, *to); !status) return status;
  }
  if (auto status = load_layers(shape_.layers); !status) return status;
  return read_projector();
}

// Files name the layer that is read; older ones leave those behind it out of their count.
core::Status LlavaTower::read_feature_layer() {
  if (file_->header().find(kFeatureLayer) == nullptr) return {};
  const auto features = file_->whole_numbers(kFeatureLayer);
  if (features.size() != 1 || features.front() < 1 || features.front() > shape_.layers) {
    return file_->unusable("entry '" + std::string(kFeatureLayer) +
                           "' must hold one layer (allowed 1.." + std::to_string(shape_.layers) +
                           ")");
  }
  shape_.layers = static_cast<int>(features.front());
  return {};
}

core::Status LlavaTower::read_projector() {
  const auto in = file_->shape("mm.0.weight"), out = file_->shape("mm.2.weight");
  if (!in || in->size() != 2 || (out && out->size() != 2)) {
    return file_->unusable("tensor 'mm.0.weight' must be there, with two sides");
  }
  const int inner = static_cast<int>((*in)[1]);
  shape_.out_width = out ? static_cast<int>((*out)[1]) : inner;
  if (auto status =
          load_product({{"mm.0.weight"}, {"mm.0.bias"}, shape_.width, inner}, project_in_);
      !status) {
    return status;
  }
  if (!out) return {};
  return load_product({{"mm.2.weight"}, {"mm.2.bias"}, inner, shape_.out_width}, project_out_);
}

ggml_tensor* LlavaTower::build(Planned& planned) {
  Graph& graph = *planned.graph;
  ggml_tensor* x = ggml_set_name(graph.normalise(embed(planned), first_), "first");
  const auto groups = planned.whole_pictures(shape_);
  for (int i = 0; i < shape_.layers; ++i) x = build_layer(planned, i, x, {groups});
  x = ggml_set_name(patches_only(planned, graph.normalise(x, last_)), "last");
  Rows read = graph.rows(x);
  x = graph.multiply(read, project_in_, {kernels::Activation::kGeluTanh, nullptr});
  if (project_out_.outputs == 0) return x;
  Rows inner = graph.rows(ggml_set_name(x, "projected"));
  return graph.multiply(inner, project_out_);
}

}  // namespace saccade::engine::models
