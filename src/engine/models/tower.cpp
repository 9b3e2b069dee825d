#include "engine/models/tower.h"

#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace saccade::engine::models {
namespace {

constexpr std::size_t kPlannedMax = 4;  // graphs kept: batch sizes and grids in turn
constexpr int kNodesPerLayer = 32, kNodesElse = 128, kNodesPerProbe = 8;
constexpr int kPicturesMax = 64;

kernels::Activation activation_of(const gguf::Header& header) {
  if (header.boolean("clip.use_gelu").value_or(false)) return kernels::Activation::kGeluTanh;
  if (header.boolean("clip.use_silu").value_or(false)) return kernels::Activation::kSilu;
  return kernels::Activation::kGeluQuick;
}

std::vector<std::string> attention_weights(int layer) {
  return {layer_name(layer, "attn_q.weight"), layer_name(layer, "attn_k.weight"),
          layer_name(layer, "attn_v.weight")};
}

// One patch, normalised: [channel][y][x]. `meaning`: what a byte means, per channel.
void cut_patch(const core::PixelView& picture, int side, int row, int column,
               const float (&meaning)[3][256], float* out) {
  for (int y = 0; y < side; ++y) {
    const std::uint8_t* pixel = picture.row(row * side + y) + std::ptrdiff_t{3} * column * side;
    float* to = out + y * side;
    for (int x = 0; x < side; ++x, pixel += 3) {
      for (int c = 0; c < 3; ++c) to[c * side * side + x] = meaning[c][pixel[c]];
    }
  }
}

}  // namespace

std::string layer_name(int layer, const std::string& rest) {
  return "v.blk." + std::to_string(layer) + "." + rest;
}

bool takes_weights(const gguf::WeightFile& file) {
  if (!file.is_float("v.patch_embd.weight")) return false;
  for (int i = 0; file.has(layer_name(i, "attn_out.weight")); ++i) {
    if (!file.has(layer_name(i, "attn_qkv.weight")) && !can_join(file, attention_weights(i))) {
      return false;
    }
  }
  return true;
}

core::Result<int> Tower::whole(const std::string& key) const {
  const auto value = file_->header().number(key);
  if (!value) return file_->unusable("key '" + key + "' is missing");
  return static_cast<int>(*value);
}

core::Status Tower::check(bool fits, const std::string& what) const {
  if (fits) return {};
  return file_->unusable("picture side " + std::to_string(shape_.picture_side) + ", patch " +
                         std::to_string(shape_.patch) + ", width " + std::to_string(shape_.width) +
                         ", heads " + std::to_string(shape_.heads) + ", merge " +
                         std::to_string(shape_.merge) + ": " + what);
}

core::Status Tower::read_shape() {
  struct Entry {
    const char* key;
    int* to;
  };
  const Entry entries[] = {{"clip.vision.image_size", &shape_.picture_side},
                           {"clip.vision.patch_size", &shape_.patch},
                           {"clip.vision.embedding_length", &shape_.width},
                           {"clip.vision.block_count", &shape_.layers},
                           {"clip.vision.attention.head_count", &shape_.heads}};
  for (const auto& entry : entries) {
    const auto value = whole(entry.key);
    if (!value) return value.error();
    *entry.to = *value;
  }
  shape_.epsilon = static_cast<float>(
      file_->header().number("clip.vision.attention.layer_norm_epsilon").value_or(1e-6));
  shape_.activation = activation_of(file_->header());
  const auto mean = file_->floats("clip.vision.image_mean");
  const auto deviation = file_->floats("clip.vision.image_std");
  if (mean.size() != 3 || deviation.size() != 3 ||
      std::any_of(deviation.begin(), deviation.end(), [](float x) { return !(x > 0); })) {
    return file_->unusable("image_mean and image_std must hold three numbers each, std > 0");
  }
  std::copy_n(mean.begin(), 3, shape_.mean);
  std::copy_n(deviation.begin(), 3, shape_.deviation);
  return check(shape_.patch > 0 && shape_.heads > 0 && shape_.width > 0 &&
                   shape_.width % shape_.heads == 0 && shape_.head_size() % 2 == 0,
               "no tower has these");
}

core::Status Tower::load_product(const LinearNames& names, Linear& to) {
  auto linear = load_linear(*file_, names);
  if (!linear) return linear.error();
  to = std::move(*linear);
  return {};
}

core::Status Tower::load_norm(const std::string& name, int width, float epsilon, Norm& to) {
  auto scale = file_->load_f32(name + ".weight", {width});
  if (!scale) return scale.error();
  to = {shape_.norm, *scale, nullptr, epsilon};
  if (!file_->has(name + ".bias")) return {};
  auto shift = file_->load_f32(name + ".bias", {width});
  if (!shift) return shift.error();
  to.shift = *shift;
  return {};
}

core::Status Tower::load_layers(int count) {
  layers_.resize(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    Layer& layer = layers_[static_cast<std::size_t>(i)];
    if (auto status = load_layer(i, layer); !status) return status;
    if (auto status = load_feed(i, layer); !status) return status;
  }
  return {};
}

core::Status Tower::load_layer(int index, Layer& layer) {
  const int width = shape_.width;
  const auto name = [&](const char* rest) { return layer_name(index, rest); };
  if (auto status = load_norm(name("ln1"), width, shape_.epsilon, layer.before_attention);
      !status) {
    return status;
  }
  if (auto status = load_norm(name("ln2"), width, shape_.epsilon, layer.before_feed); !status) {
    return status;
  }
  LinearNames qkv{attention_weights(index),
                  {name("attn_q.bias"), name("attn_k.bias"), name("attn_v.bias")},
                  width,
                  3 * width};
  if (file_->has(name("attn_qkv.weight"))) {
    qkv.weights = {name("attn_qkv.weight")};
    qkv.biases = {name("attn_qkv.bias")};
  }
  if (auto status = load_product(qkv, layer.qkv); !status) return status;
  struct Scale {
    const char* name;
    ggml_tensor** to;
  };
  for (const auto& [part, to] :
       {Scale{"ls1.weight", &layer.attention_scale}, Scale{"ls2.weight", &layer.feed_scale}}) {
    if (!file_->has(name(part))) continue;
    auto scale = file_->load_f32(name(part), {width});
    if (!scale) return scale.error();
    *to = *scale;
  }
  return load_product({{name("attn_out.weight")}, {name("attn_out.bias")}, width, width},
                      layer.out);
}

core::Status Tower::load_feed(int index, Layer& layer) {
  const int width = shape_.width;
  const auto name = [&](const char* rest) { return layer_name(index, rest); };
  std::string up = "ffn_up", down = "ffn_down";
  // Early files of some families have the two names the wrong way round.
  const auto shape = file_->shape(name("ffn_down.weight"));
  if (shape && shape->front() == width) std::swap(up, down);
  const auto widened = file_->shape(layer_name(index, up + ".weight"));
  if (!widened || widened->size() != 2) {
    return file_->unusable("tensor '" + layer_name(index, up + ".weight") + "' is missing");
  }
  const int inner = static_cast<int>((*widened)[1]);
  shape_.inner = std::max(shape_.inner, inner);
  const auto names = [&](const std::string& part, int inputs, int outputs) {
    return LinearNames{{layer_name(index, part + ".weight")},
                       {layer_name(index, part + ".bias")},
                       inputs,
                       outputs};
  };
  if (file_->has(name("ffn_gate.weight"))) {
    if (auto status = load_product(names("ffn_gate", width, inner), layer.gate); !status)
      return status;
  }
  if (auto status = load_product(names(up, width, inner), layer.up); !status) return status;
  return load_product(names(down, inner, width), layer.down);
}

std::vector<int> Tower::order_rows(PatchGrid grid) const {
  std::vector<int> out(static_cast<std::size_t>(grid.patches()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int>(i);
  return out;
}

kernels::HeadsShape Tower::Planned::whole_pictures(const TowerShape& shape) const {
  return {shape.heads, shape.head_size(), kernels::equal_groups(rows(), pictures)};
}

ggml_tensor* Tower::constant(Planned& planned, int type, const gguf::Shape& shape,
                             const std::string& name, const void* data) {
  ggml_tensor* tensor = planned.graph->input(type, shape, name);
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  planned.constants.emplace_back(tensor,
                                 std::vector<std::uint8_t>(bytes, bytes + ggml_nbytes(tensor)));
  return tensor;
}

// Attention weights of a few queries spread over each picture: the fused attention keeps none.
void Tower::build_probes(Planned& planned, ggml_tensor* qkv) {
  ggml_context* c = planned.graph->context();
  const int size = shape_.head_size(), rows = planned.rows();
  const std::int64_t queries = std::min(rows, kProbeQueries);
  const std::size_t row = qkv->nb[1], head = static_cast<std::size_t>(size) * sizeof(float);
  const auto stride = static_cast<std::size_t>(rows / queries);
  for (int p = 0; p < planned.pictures; ++p) {
    const std::size_t first = static_cast<std::size_t>(p) * static_cast<std::size_t>(rows);
    ggml_tensor* q = ggml_view_3d(c, qkv, size, shape_.heads, queries, head, stride * row,
                                  (first + stride / 2) * row);
    ggml_tensor* k =
        ggml_view_3d(c, qkv, size, shape_.heads, rows, head, row,
                     first * row + static_cast<std::size_t>(shape_.width) * sizeof(float));
    ggml_tensor* scores =
        ggml_mul_mat(c, ggml_permute(c, k, 0, 2, 1, 3), ggml_permute(c, q, 0, 2, 1, 3));
    ggml_tensor* weights =
        ggml_soft_max_ext(c, scores, nullptr, 1.0F / std::sqrt(static_cast<float>(size)), 0.0F);
    planned.graph->output(weights);
    planned.probes.push_back(weights);
  }
}

ggml_tensor* Tower::add_scaled(Planned& planned, Rows& rows, const Linear& linear,
                               ggml_tensor* scale, ggml_tensor* x) {
  Graph& graph = *planned.graph;
  if (scale == nullptr) return graph.multiply(rows, linear, {kernels::Activation::kNone, x});
  ggml_context* c = graph.context();
  return ggml_add(c, ggml_mul(c, graph.multiply(rows, linear), scale), x);
}

ggml_tensor* Tower::feed(Planned& planned, const Layer& layer, ggml_tensor* x) {
  Graph& graph = *planned.graph;
  Rows rows = graph.rows(x, layer.before_feed);
  ggml_tensor* inner = nullptr;
  if (layer.gate.outputs > 0) {
    ggml_tensor* gate = graph.multiply(rows, layer.gate, {shape_.activation, nullptr});
    inner = ggml_mul(graph.context(), gate, graph.multiply(rows, layer.up));
  } else {
    inner = graph.multiply(rows, layer.up, {shape_.activation, nullptr});
  }
  Rows widened = graph.rows(inner);
  return add_scaled(planned, widened, layer.down, layer.feed_scale, x);
}

ggml_tensor* Tower::build_layer(Planned& planned, int index, ggml_tensor* x,
                                const LayerOptions& options) {
  Graph& graph = *planned.graph;
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const auto named = [&](ggml_tensor* tensor, const char* what) {
    return ggml_format_name(tensor, "%s_%d", what, index);
  };
  Rows normed = graph.rows(x, layer.before_attention);
  ggml_tensor* qkv = named(graph.multiply(normed, layer.qkv), "qkv");
  if (options.turns != nullptr) {
    qkv = named(graph.rotate(qkv, options.turns, shape_.heads), "qkv_turned");
  }
  if (index == probed_layer()) build_probes(planned, qkv);
  Rows attended = graph.rows(named(graph.attend_all(qkv, options.groups), "attended"));
  x = named(add_scaled(planned, attended, layer.out, layer.attention_scale, x), "attention");
  return named(feed(planned, layer, x), "layer");
}

ggml_tensor* Tower::shuffle(Planned& planned, ggml_tensor* x) const {
  ggml_context* context = planned.graph->context();
  const std::int64_t merge = shape_.merge;
  const std::int64_t columns = planned.grid.columns / merge;
  // Pictures stand below each other: their heights are multiples of merge.
  const std::int64_t rows = std::int64_t{planned.grid.rows} * planned.pictures;
  x = ggml_reshape_3d(context, x, shape_.width * merge, columns, rows);
  x = ggml_permute(context, x, 0, 2, 1, 3);
  x = ggml_cont_3d(context, x, shape_.width * merge * merge, rows / merge, columns);
  x = ggml_permute(context, x, 0, 2, 1, 3);
  x = ggml_cont_2d(context, x, shape_.width * merge * merge, columns * rows / merge);
  return ggml_set_name(x, "shuffled");
}

// Per token: what its patches receive on average, and how evenly the queries give it.
void Tower::read_probe(const Planned& planned, int picture, TowerOutput& out) const {
  const ggml_tensor* probe = planned.probes[static_cast<std::size_t>(picture)];
  const auto queries = static_cast<std::size_t>(probe->ne[1]);
  const auto heads = static_cast<std::size_t>(probe->ne[2]);
  const auto* weights = static_cast<const float*>(probe->data);
  const auto tokens = static_cast<std::size_t>(shape_.tokens(planned.grid));
  const int columns = planned.grid.columns, merge = shape_.merge;
  std::vector<double> given(tokens * queries, 0.0);  // [token][query], summed over heads
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t q = 0; q < queries; ++q) {
      for (const int patch : planned.patch_of) {
        const float weight = *weights++;
        if (patch < 0) continue;
        const int token = patch / columns / merge * (columns / merge) + patch % columns / merge;
        given[static_cast<std::size_t>(token) * queries + q] += weight;
      }
    }
  }
  const double norm = static_cast<double>(tokens) / static_cast<double>(queries * heads);
  for (std::size_t t = 0; t < tokens; ++t) {
    double sum = 0, entropy = 0;
    for (std::size_t q = 0; q < queries; ++q) sum += given[t * queries + q];
    for (std::size_t q = 0; q < queries; ++q) {
      const double share = given[t * queries + q] / sum;
      if (share > 0) entropy -= share * std::log(share);
    }
    out.received.push_back(static_cast<float>(sum * norm));
    out.spread.push_back(
        queries > 1 ? static_cast<float>(entropy / std::log(static_cast<double>(queries))) : 0.0F);
  }
}

core::Result<Tower::Planned*> Tower::plan(int pictures, PatchGrid grid) {
  const auto found = std::find_if(planned_.begin(), planned_.end(), [&](const Planned& p) {
    return p.pictures == pictures && p.grid == grid;
  });
  if (found != planned_.end()) {
    std::rotate(planned_.begin(), found, found + 1);
    return &planned_.front();
  }
  Planned planned;
  planned.pictures = pictures;
  planned.grid = grid;
  planned.patch_of = order_rows(grid);
  planned.graph =
      std::make_unique<Graph>(device_, static_cast<int>(layers_.size()) * kNodesPerLayer +
                                           pictures * kNodesPerProbe + kNodesElse);
  planned.patches = planned.graph->input(
      GGML_TYPE_F32, {shape_.patch_values(), std::int64_t{grid.patches()} * pictures}, "patches");
  planned.tokens = ggml_set_name(build(planned), "tokens");
  planned.graph->output(planned.tokens);
  if (auto status = planned.graph->plan(); !status) return status.error();
  if (planned_.size() >= kPlannedMax) planned_.pop_back();
  planned_.insert(planned_.begin(), std::move(planned));
  return &planned_.front();
}

core::Status Tower::check_pictures(const std::vector<core::PixelView>& pictures,
                                   PatchGrid grid) const {
  const auto count = pictures.size();
  if (count < 1 || count > kPicturesMax || grid.columns < 1 || grid.rows < 1 ||
      grid.columns % shape_.merge != 0 || grid.rows % shape_.merge != 0 ||
      grid.patches() > shape_.patches_max || !takes(grid)) {
    return core::error(core::ErrorCode::kUsage,
                       std::to_string(count) + " pictures of " + std::to_string(grid.columns) +
                           "x" + std::to_string(grid.rows) + " patches (allowed 1.." +
                           std::to_string(kPicturesMax) + " of at most " +
                           std::to_string(shape_.patches_max) + " patches, sides multiples of " +
                           std::to_string(shape_.merge) + ")");
  }
  for (const auto& picture : pictures) {
    if (picture.width != grid.columns * shape_.patch ||
        picture.height != grid.rows * shape_.patch) {
      return core::error(core::ErrorCode::kUsage, "a picture of " + std::to_string(picture.width) +
                                                      "x" + std::to_string(picture.height) +
                                                      " pixels in a batch of another size");
    }
  }
  return {};
}

// Patches in the order of the tower's rows.
void Tower::fill(Planned& planned, const std::vector<core::PixelView>& pictures) const {
  float meaning[3][256];
  for (int c = 0; c < 3; ++c) {
    for (int v = 0; v < 256; ++v) {
      meaning[c][v] = (static_cast<float>(v) / 255.0F - shape_.mean[c]) / shape_.deviation[c];
    }
  }
  auto* to = static_cast<float*>(planned.patches->data);
  for (const auto& picture : pictures) {
    for (const int patch : planned.patch_of) {
      if (patch < 0) continue;
      cut_patch(picture, shape_.patch, patch / planned.grid.columns, patch % planned.grid.columns,
                meaning, to);
      to += shape_.patch_values();
    }
  }
  for (const auto& [tensor, bytes] : planned.constants) {
    std::memcpy(tensor->data, bytes.data(), bytes.size());
  }
}

core::Result<TowerOutput> Tower::encode(const std::vector<core::PixelView>& pictures,
                                        PatchGrid grid) {
  if (auto status = check_pictures(pictures, grid); !status) return status.error();
  const int count = static_cast<int>(pictures.size());
  const auto planned = plan(count, grid);
  if (!planned) return planned.error();
  auto& p = **planned;
  fill(p, pictures);
  if (auto status = p.graph->compute(); !status) return status.error();
  const auto* encoded = static_cast<const float*>(p.tokens->data);
  TowerOutput out;
  out.tokens.assign(encoded, encoded + ggml_nelements(p.tokens));
  const auto width = static_cast<std::size_t>(p.tokens->ne[0]);
  const std::size_t per_picture = out.tokens.size() / pictures.size();
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    for (std::size_t token = 0; token < p.token_rows.size(); ++token) {
      const auto row = static_cast<std::size_t>(p.token_rows[token]);
      std::copy_n(encoded + i * per_picture + row * width, width,
                  out.tokens.data() + i * per_picture + token * width);
    }
    read_probe(p, static_cast<int>(i), out);
  }
  return out;
}

}  // namespace saccade::engine::models
