#include "engine/models/siglip.h"

#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace saccade::engine::models {
namespace {

constexpr std::size_t kPlannedMax = 4;  // graphs kept: batch sizes and grids in turn
constexpr int kNodesPerLayer = 24, kNodesElse = 64, kNodesPerProbe = 8;
constexpr int kPicturesMax = 64;

core::Result<int> whole(const gguf::WeightFile& file, const std::string& key) {
  const auto value = file.header().number(key);
  if (!value) return file.unusable("key '" + key + "' is missing");
  return static_cast<int>(*value);
}

kernels::Activation activation_of(const gguf::Header& header) {
  if (header.boolean("clip.use_gelu").value_or(false)) return kernels::Activation::kGeluTanh;
  if (header.boolean("clip.use_silu").value_or(false)) return kernels::Activation::kSilu;
  return kernels::Activation::kGeluQuick;
}

std::string layer_name(int layer, const std::string& rest) {
  return "v.blk." + std::to_string(layer) + "." + rest;
}

core::Result<Norm> load_norm(gguf::WeightFile& file, const std::string& name, int width,
                             float epsilon) {
  auto scale = file.load_f32(name + ".weight", {width});
  if (!scale) return scale.error();
  auto shift = file.load_f32(name + ".bias", {width});
  if (!shift) return shift.error();
  return Norm{NormKind::kLayer, *scale, *shift, epsilon};
}

}  // namespace

void cut_patches(const SiglipShape& shape, const core::PixelView& picture, PatchGrid grid,
                 float* out) {
  const int side = shape.patch;
  // One table per channel: what a byte means after normalisation.
  float meaning[3][256];
  for (int c = 0; c < 3; ++c) {
    for (int v = 0; v < 256; ++v) {
      meaning[c][v] = (static_cast<float>(v) / 255.0F - shape.mean[c]) / shape.deviation[c];
    }
  }
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      for (int y = 0; y < side; ++y) {
        const std::uint8_t* pixel = picture.row(row * side + y) + std::ptrdiff_t{3} * column * side;
        float* to = out + y * side;
        for (int x = 0; x < side; ++x, pixel += 3) {
          for (int c = 0; c < 3; ++c) to[c * side * side + x] = meaning[c][pixel[c]];
        }
      }
      out += shape.patch_values();
    }
  }
}

core::Result<std::unique_ptr<Siglip>> Siglip::load(std::unique_ptr<gguf::WeightFile> file,
                                                   Device& device) {
  std::unique_ptr<Siglip> out(new Siglip(std::move(file), device));
  if (auto status = out->read_shape(); !status) return status.error();
  if (auto status = out->load_weights(); !status) return status.error();
  return core::Result<std::unique_ptr<Siglip>>(std::move(out));
}

core::Status Siglip::read_shape() {
  struct Entry {
    const char* key;
    int* to;
  };
  const Entry entries[] = {{"clip.vision.image_size", &shape_.picture_side},
                           {"clip.vision.patch_size", &shape_.patch},
                           {"clip.vision.embedding_length", &shape_.width},
                           {"clip.vision.block_count", &shape_.layers},
                           {"clip.vision.attention.head_count", &shape_.heads},
                           {"clip.vision.feed_forward_length", &shape_.inner},
                           {"clip.vision.projector.scale_factor", &shape_.merge}};
  for (const auto& entry : entries) {
    const auto value = whole(*file_, entry.key);
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
  if (shape_.patch == 0 || shape_.heads == 0 || shape_.picture_side % shape_.patch != 0 ||
      shape_.width % shape_.heads != 0 || shape_.grid_side() % shape_.merge != 0) {
    return file_->unusable("picture side " + std::to_string(shape_.picture_side) + ", patch " +
                           std::to_string(shape_.patch) + ", width " +
                           std::to_string(shape_.width) + ", heads " +
                           std::to_string(shape_.heads) + ", scale " +
                           std::to_string(shape_.merge) + " do not divide each other");
  }
  const auto connector = file_->shape("mm.model.fc.weight");
  if (!connector || connector->size() != 2) {
    return file_->unusable("tensor 'mm.model.fc.weight' is missing");
  }
  shape_.out_width = static_cast<int>((*connector)[1]);
  return {};
}

core::Status Siglip::load_weights() {
  const int width = shape_.width;
  const int values = shape_.patch_values();
  if (!file_->is_float("v.patch_embd.weight")) {
    return file_->unusable("tensor 'v.patch_embd.weight' must be F32, F16 or BF16");
  }
  auto patch = load_linear(*file_, {{"v.patch_embd.weight"}, {"v.patch_embd.bias"}, values, width});
  if (!patch) return patch.error();
  patch_ = std::move(*patch);
  auto positions =
      file_->load_f32("v.position_embd.weight", {width, shape_.grid_side() * shape_.grid_side()});
  if (!positions) return positions.error();
  positions_ = *positions;
  for (int i = 0; i < shape_.layers; ++i) {
    auto layer = load_layer(i);
    if (!layer) return layer.error();
    layers_.push_back(std::move(*layer));
  }
  auto last = load_norm(*file_, "v.post_ln", width, shape_.epsilon);
  if (!last) return last.error();
  last_ = *last;
  auto connector = load_linear(
      *file_, {{"mm.model.fc.weight"}, {}, width * shape_.merge * shape_.merge, shape_.out_width});
  if (!connector) return connector.error();
  connector_ = std::move(*connector);
  return {};
}

core::Result<Siglip::Layer> Siglip::load_layer(int index) {
  const int width = shape_.width;
  Layer layer;
  const auto name = [&](const char* rest) { return layer_name(index, rest); };
  struct NormEntry {
    const char* name;
    Norm* to;
  };
  for (const auto& [part, to] :
       {NormEntry{"ln1", &layer.before_attention}, NormEntry{"ln2", &layer.before_feed}}) {
    auto norm = load_norm(*file_, name(part), width, shape_.epsilon);
    if (!norm) return norm.error();
    *to = *norm;
  }
  const std::vector<std::string> qkv{name("attn_q.weight"), name("attn_k.weight"),
                                     name("attn_v.weight")};
  if (!can_join(*file_, qkv)) {
    return file_->unusable("the attention weights of layer " + std::to_string(index) +
                           " are quantised: our own tower takes F32, F16 and BF16");
  }
  struct LinearEntry {
    LinearNames names;
    Linear* to;
  };
  const LinearEntry entries[] = {
      {{qkv, {name("attn_q.bias"), name("attn_k.bias"), name("attn_v.bias")}, width, 3 * width},
       &layer.qkv},
      {{{name("attn_out.weight")}, {name("attn_out.bias")}, width, width}, &layer.out},
      {{{name("ffn_up.weight")}, {name("ffn_up.bias")}, width, shape_.inner}, &layer.up},
      {{{name("ffn_down.weight")}, {name("ffn_down.bias")}, shape_.inner, width}, &layer.down}};
  for (const auto& entry : entries) {
    auto linear = load_linear(*file_, entry.names);
    if (!linear) return linear.error();
    *entry.to = std::move(*linear);
  }
  return layer;
}

// Attention weights of a few queries spread over each picture: the fused attention keeps none.
void Siglip::build_probes(Planned& planned, ggml_tensor* qkv, const kernels::HeadsShape& heads) {
  ggml_context* c = planned.graph->context();
  const std::int64_t queries = std::min(heads.tokens, kProbeQueries);
  const std::size_t row = qkv->nb[1], head = static_cast<std::size_t>(heads.size) * sizeof(float);
  const auto stride = static_cast<std::size_t>(heads.tokens / queries);
  for (int p = 0; p < heads.pictures; ++p) {
    const std::size_t first = static_cast<std::size_t>(p) * static_cast<std::size_t>(heads.tokens);
    ggml_tensor* q = ggml_view_3d(c, qkv, heads.size, heads.heads, queries, head, stride * row,
                                  (first + stride / 2) * row);
    ggml_tensor* k =
        ggml_view_3d(c, qkv, heads.size, heads.heads, heads.tokens, head, row,
                     first * row + static_cast<std::size_t>(heads.width()) * sizeof(float));
    ggml_tensor* scores =
        ggml_mul_mat(c, ggml_permute(c, k, 0, 2, 1, 3), ggml_permute(c, q, 0, 2, 1, 3));
    ggml_tensor* weights = ggml_soft_max_ext(
        c, scores, nullptr, 1.0F / std::sqrt(static_cast<float>(heads.size)), 0.0F);
    planned.graph->output(weights);
    planned.probes.push_back(weights);
  }
}

ggml_tensor* Siglip::build_layer(Planned& planned, std::size_t index, ggml_tensor* x,
                                 const kernels::HeadsShape& heads) {
  Graph& graph = *planned.graph;
  const Layer& layer = layers_[index];
  Rows normed = graph.rows(x, layer.before_attention);
  ggml_tensor* qkv = graph.multiply(normed, layer.qkv);
  // The last layer but one: the last one's attention serves the output alone.
  if (index + 2 == std::max<std::size_t>(layers_.size(), 2)) build_probes(planned, qkv, heads);
  Rows attended = graph.rows(graph.attend_all(qkv, heads));
  x = graph.multiply(attended, layer.out, {kernels::Activation::kNone, x});
  Rows feed = graph.rows(x, layer.before_feed);
  Rows inner = graph.rows(graph.multiply(feed, layer.up, {shape_.activation, nullptr}));
  return graph.multiply(inner, layer.down, {kernels::Activation::kNone, x});
}

// Per token: what its patches receive on average, and how evenly the queries give it.
void Siglip::read_probe(const Planned& planned, int picture, SiglipOutput& out) const {
  const ggml_tensor* probe = planned.probes[static_cast<std::size_t>(picture)];
  const auto patches = static_cast<std::size_t>(probe->ne[0]);
  const auto queries = static_cast<std::size_t>(probe->ne[1]);
  const auto heads = static_cast<std::size_t>(probe->ne[2]);
  const auto* weights = static_cast<const float*>(probe->data);
  const auto tokens = static_cast<std::size_t>(shape_.tokens(planned.grid));
  const auto columns = static_cast<std::size_t>(planned.grid.columns);
  const auto merge = static_cast<std::size_t>(shape_.merge);
  std::vector<double> given(tokens * queries, 0.0);  // [token][query], summed over heads
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t q = 0; q < queries; ++q) {
      for (std::size_t i = 0; i < patches; ++i) {
        const std::size_t token = i / columns / merge * (columns / merge) + i % columns / merge;
        given[token * queries + q] += *weights++;
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

// merge x merge patches become one row, row by row as the reference's pixel_shuffle orders them.
ggml_tensor* Siglip::shuffle(Graph& graph, ggml_tensor* x, const Planned& planned) {
  ggml_context* context = graph.context();
  const std::int64_t merge = shape_.merge;
  const std::int64_t columns = planned.grid.columns / merge;
  // Pictures stand below each other: their heights are multiples of merge.
  const std::int64_t rows = std::int64_t{planned.grid.rows} * planned.pictures;
  x = ggml_reshape_3d(context, x, shape_.width * merge, columns, rows);
  x = ggml_permute(context, x, 0, 2, 1, 3);
  x = ggml_cont_3d(context, x, shape_.width * merge * merge, rows / merge, columns);
  x = ggml_permute(context, x, 0, 2, 1, 3);
  return ggml_cont_2d(context, x, shape_.width * merge * merge, columns * rows / merge);
}

ggml_tensor* Siglip::build(Planned& planned) {
  Graph& graph = *planned.graph;
  ggml_context* context = graph.context();
  const int patches = planned.grid.columns * planned.grid.rows;
  planned.patches = graph.input(
      GGML_TYPE_F32, {shape_.patch_values(), std::int64_t{patches} * planned.pictures}, "patches");
  planned.positions = graph.input(GGML_TYPE_I32, {patches}, "positions");
  Rows cut = graph.rows(planned.patches);
  ggml_tensor* x = graph.multiply(cut, patch_);
  x = ggml_reshape_3d(context, x, shape_.width, patches, planned.pictures);
  x = ggml_add(context, x, ggml_get_rows(context, positions_, planned.positions));
  x = ggml_reshape_2d(context, x, shape_.width, std::int64_t{patches} * planned.pictures);
  const kernels::HeadsShape heads{shape_.heads, shape_.width / shape_.heads, patches,
                                  planned.pictures};
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    x = build_layer(planned, i, x, heads);
    ggml_format_name(x, "layer_%d", static_cast<int>(i));
  }
  x = graph.normalise(x, last_);
  Rows shuffled = graph.rows(shuffle(graph, x, planned));
  return graph.multiply(shuffled, connector_);
}

core::Result<Siglip::Planned*> Siglip::plan(int pictures, PatchGrid grid) {
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
  planned.graph = std::make_unique<Graph>(
      device_, shape_.layers * kNodesPerLayer + pictures * kNodesPerProbe + kNodesElse);
  planned.tokens = build(planned);
  planned.graph->output(planned.tokens);
  if (auto status = planned.graph->plan(); !status) return status.error();
  if (planned_.size() >= kPlannedMax) planned_.pop_back();
  planned_.insert(planned_.begin(), std::move(planned));
  return &planned_.front();
}

core::Result<SiglipOutput> Siglip::encode(const std::vector<core::PixelView>& pictures,
                                          PatchGrid grid) {
  const int count = static_cast<int>(pictures.size());
  if (count < 1 || count > kPicturesMax || grid.columns < shape_.merge ||
      grid.rows < shape_.merge || grid.columns % shape_.merge != 0 ||
      grid.rows % shape_.merge != 0 || grid.columns > shape_.grid_side() ||
      grid.rows > shape_.grid_side()) {
    return core::error(core::ErrorCode::kUsage,
                       std::to_string(count) + " pictures of " + std::to_string(grid.columns) +
                           "x" + std::to_string(grid.rows) + " patches (allowed 1.." +
                           std::to_string(kPicturesMax) + " of " + std::to_string(shape_.merge) +
                           ".." + std::to_string(shape_.grid_side()) + " a side, multiples of " +
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
  const auto planned = plan(count, grid);
  if (!planned) return planned.error();
  auto& p = **planned;
  const int patches = grid.columns * grid.rows;
  auto* values = static_cast<float*>(p.patches->data);
  for (const auto& picture : pictures) {
    cut_patches(shape_, picture, grid, values);
    values += static_cast<std::ptrdiff_t>(patches) * shape_.patch_values();
  }
  auto* positions = static_cast<std::int32_t*>(p.positions->data);
  for (int i = 0; i < patches; ++i) {
    const int row = i / grid.columns * shape_.grid_side() / grid.rows;
    const int column = i % grid.columns * shape_.grid_side() / grid.columns;
    positions[i] = row * shape_.grid_side() + column;
  }
  if (auto status = p.graph->compute(); !status) return status.error();
  const auto* encoded = static_cast<const float*>(p.tokens->data);
  SiglipOutput out;
  out.tokens.assign(encoded, encoded + ggml_nelements(p.tokens));
  for (int i = 0; i < count; ++i) read_probe(p, i, out);
  return out;
}

}  // namespace saccade::engine::models
