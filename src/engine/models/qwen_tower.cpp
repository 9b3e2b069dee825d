#include "engine/models/qwen_tower.h"

#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace saccade::engine::models {
namespace {

constexpr int kMerge = 2;
constexpr int kWindowPixels = 112;
constexpr double kRotaryBase = 10'000;

// Calls what(row, column, rows, columns) for each window of a grid of tokens, in reading order.
void each_window(PatchGrid tokens, int side, const std::function<void(int, int, int, int)>& what) {
  for (int row = 0; row < tokens.rows; row += side) {
    for (int column = 0; column < tokens.columns; column += side) {
      what(row, column, std::min(side, tokens.rows - row), std::min(side, tokens.columns - column));
    }
  }
}

PatchGrid token_grid(PatchGrid grid) { return {grid.columns / kMerge, grid.rows / kMerge}; }

}  // namespace

core::Result<std::unique_ptr<Tower>> QwenTower::load(std::unique_ptr<gguf::WeightFile> file,
                                                     Device& device) {
  std::unique_ptr<QwenTower> out(new QwenTower(std::move(file), device));
  if (auto status = out->read(); !status) return status.error();
  return std::unique_ptr<Tower>(std::move(out));
}

core::Status QwenTower::read() {
  if (auto status = read_shape(); !status) return status;
  const auto& header = file_->header();
  shape_.merge = kMerge;
  shape_.patches_max = kTokensMax * kMerge * kMerge;
  if (header.number("clip.vision.spatial_merge_size").value_or(kMerge) != kMerge) {
    return file_->unusable("key 'clip.vision.spatial_merge_size' must be 2");
  }
  window_side_ = kWindowPixels / shape_.patch / kMerge;
  if (auto status = check(shape_.head_size() % 4 == 0 && window_side_ > 0,
                          "heads must be multiples of 4 wide and a patch at most 56 pixels");
      !status) {
    return status;
  }
  if (header.text("clip.projector_type") == "qwen2.5vl_merger") {
    shape_.norm = NormKind::kRms;
    const auto pattern = whole("clip.vision.n_wa_pattern");
    if (!pattern) return pattern.error();
    pattern_ = *pattern;
  }
  const LinearNames patch{
      {"v.patch_embd.weight"}, {"v.patch_embd.bias"}, shape_.patch_values(), shape_.width};
  if (auto status = load_product(patch, patch_); !status) return status;
  LinearNames next = patch;
  next.weights = {"v.patch_embd.weight.1"};
  next.biases.clear();
  if (auto status = load_product(next, patch_next_); !status) return status;
  if (auto status = load_layers(shape_.layers); !status) return status;
  if (auto status = load_norm("v.post_ln", shape_.width, shape_.epsilon, last_); !status) {
    return status;
  }
  return read_merger();
}

core::Status QwenTower::load_merger(const std::string& in, const std::string& out, Merger& to) {
  const auto first = file_->shape(in + ".weight"), second = file_->shape(out + ".weight");
  if (!first || !second || first->size() != 2 || second->size() != 2) {
    return file_->unusable("tensors '" + in + ".weight' and '" + out + ".weight' must be there");
  }
  const int merged = shape_.width * kMerge * kMerge, inner = static_cast<int>((*first)[1]);
  if (auto status = load_product({{in + ".weight"}, {in + ".bias"}, merged, inner}, to.in);
      !status) {
    return status;
  }
  const int width = static_cast<int>((*second)[1]);
  return load_product({{out + ".weight"}, {out + ".bias"}, inner, width}, to.out);
}

core::Status QwenTower::read_merger() {
  if (auto status = load_merger("mm.0", "mm.2", merger_); !status) return status;
  shape_.out_width = merger_.out.outputs;
  if (file_->header().text("clip.projector_type") != "qwen3vl_merger") return {};
  const int side = shape_.grid_side();
  auto positions = file_->load_f32("v.position_embd.weight", {shape_.width, side * side});
  if (!positions) return positions.error();
  positions_ = *positions;
  for (int layer = 0; layer < shape_.layers; ++layer) {
    if (auto status = read_deep(layer); !status) return status;
  }
  shape_.out_width *= 1 + static_cast<int>(deep_.size());
  return {};
}

core::Status QwenTower::read_deep(int layer) {
  const std::string at = "v.deepstack." + std::to_string(layer) + ".";
  if (!file_->has(at + "fc1.weight")) return {};
  Merger merger;
  const int merged = shape_.width * kMerge * kMerge;
  if (auto status = load_norm(at + "norm", merged, shape_.epsilon, merger.norm); !status) {
    return status;
  }
  if (auto status = load_merger(at + "fc1", at + "fc2", merger); !status) return status;
  if (merger.out.outputs != merger_.out.outputs) {
    return file_->unusable("tensor '" + at + "fc2.weight' gives " +
                           std::to_string(merger.out.outputs) + " outputs, expected " +
                           std::to_string(merger_.out.outputs));
  }
  deep_.emplace_back(layer, std::move(merger));
  return {};
}

// The last layer but one that sees whole pictures.
int QwenTower::probed_layer() const {
  int layer = std::max(shape_.layers - 2, 0);
  while (layer > 0 && !sees_all(layer)) --layer;
  return layer;
}

// Windows in reading order, in each its tokens, in each token its four patches.
std::vector<int> QwenTower::order_rows(PatchGrid grid) const {
  const PatchGrid tokens = token_grid(grid);
  const int side = pattern_ == 0 ? std::max(tokens.columns, tokens.rows) : window_side_;
  std::vector<int> out;
  each_window(tokens, side, [&](int row, int column, int rows, int columns) {
    for (int token = 0; token < rows * columns; ++token) {
      const int y = (row + token / columns) * kMerge, x = (column + token % columns) * kMerge;
      for (int patch = 0; patch < kMerge * kMerge; ++patch) {
        out.push_back((y + patch / kMerge) * grid.columns + x + patch % kMerge);
      }
    }
  });
  return out;
}

kernels::HeadsShape QwenTower::windows(const Planned& planned) const {
  std::vector<int> starts{0};
  for (int picture = 0; picture < planned.pictures; ++picture) {
    each_window(token_grid(planned.grid), window_side_, [&](int, int, int rows, int columns) {
      starts.push_back(starts.back() + rows * columns * kMerge * kMerge);
    });
  }
  return {shape_.heads, shape_.head_size(), std::move(starts)};
}

// Half of a head's pairs turn with the row of the patch, the other half with its column.
ggml_tensor* QwenTower::build_turns(Planned& planned) {
  const int size = shape_.head_size(), pairs = size / 2, quarter = size / 4;
  std::vector<double> speeds;  // of a pair, per row or column
  speeds.reserve(static_cast<std::size_t>(quarter));
  for (int i = 0; i < quarter; ++i) speeds.push_back(std::pow(kRotaryBase, -2.0 * i / pairs));
  std::vector<float> turns;
  turns.reserve(static_cast<std::size_t>(planned.rows()) * static_cast<std::size_t>(size));
  const auto add = [&](int patch, double (*part)(double)) {
    for (const int place : {patch / planned.grid.columns, patch % planned.grid.columns}) {
      for (const double speed : speeds) turns.push_back(static_cast<float>(part(place * speed)));
    }
  };
  for (const int patch : planned.patch_of) {
    add(patch, std::cos);
    add(patch, std::sin);
  }
  return constant(planned, GGML_TYPE_F32, {size, planned.rows()}, "turns", turns.data());
}

// The table is stretched over the picture, corners on corners.
ggml_tensor* QwenTower::add_positions(Planned& planned, ggml_tensor* x) {
  if (positions_ == nullptr) return x;
  const int side = shape_.grid_side();
  const auto width = static_cast<std::size_t>(shape_.width);
  const auto* table = static_cast<const float*>(positions_->data);
  struct Between {
    int first, second;
    float share;  // of the second
  };
  const auto place = [side](int at, int count) {
    const float x_at = static_cast<float>(at) * static_cast<float>(side - 1) /
                       static_cast<float>(std::max(count - 1, 1));
    const int first = std::min(static_cast<int>(x_at), side - 1);
    return Between{first, std::min(first + 1, side - 1), x_at - static_cast<float>(first)};
  };
  std::vector<float> places;
  for (const int patch : planned.patch_of) {
    const auto row = place(patch / planned.grid.columns, planned.grid.rows);
    const auto column = place(patch % planned.grid.columns, planned.grid.columns);
    const auto value = [&](int r, int c, std::size_t i) {
      return table[static_cast<std::size_t>(r * side + c) * width + i];
    };
    for (std::size_t i = 0; i < width; ++i) {
      const float above = std::lerp(value(row.first, column.first, i),
                                    value(row.first, column.second, i), column.share);
      const float below = std::lerp(value(row.second, column.first, i),
                                    value(row.second, column.second, i), column.share);
      places.push_back(std::lerp(above, below, row.share));
    }
  }
  ggml_context* context = planned.graph->context();
  const std::int64_t rows = planned.rows();
  ggml_tensor* at =
      constant(planned, GGML_TYPE_F32, {shape_.width, rows}, "positions", places.data());
  x = ggml_add(context, ggml_reshape_3d(context, x, shape_.width, rows, planned.pictures), at);
  return ggml_reshape_2d(context, x, shape_.width, rows * planned.pictures);
}

ggml_tensor* QwenTower::merge(Planned& planned, const Merger& merger, ggml_tensor* x) const {
  Graph& graph = *planned.graph;
  constexpr int kPatches = kMerge * kMerge;
  x = ggml_reshape_2d(graph.context(), x, std::int64_t{shape_.width} * kPatches,
                      ggml_nrows(x) / kPatches);
  Rows merged = graph.rows(x, merger.norm);
  x = graph.multiply(merged, merger.in, {kernels::Activation::kGeluTanh, nullptr});
  Rows inner = graph.rows(ggml_set_name(x, "merged"));
  return graph.multiply(inner, merger.out);
}

ggml_tensor* QwenTower::build(Planned& planned) {
  Graph& graph = *planned.graph;
  // A token's place in reading order, from the first of its patches.
  const PatchGrid tokens = token_grid(planned.grid);
  planned.token_rows.resize(static_cast<std::size_t>(shape_.tokens(planned.grid)));
  for (int row = 0; row < planned.rows(); row += kMerge * kMerge) {
    const int patch = planned.patch_of[static_cast<std::size_t>(row)];
    const int y = patch / planned.grid.columns / kMerge;
    const int x = patch % planned.grid.columns / kMerge;
    const int token = y * tokens.columns + x;
    planned.token_rows[static_cast<std::size_t>(token)] = row / (kMerge * kMerge);
  }
  Rows cut = graph.rows(planned.patches);
  ggml_tensor* x = graph.multiply(cut, patch_);
  x = ggml_set_name(graph.multiply(cut, patch_next_, {kernels::Activation::kNone, x}), "patched");
  x = add_positions(planned, x);
  ggml_tensor* turns = build_turns(planned);
  const auto whole = planned.whole_pictures(shape_), inside = windows(planned);
  std::vector<ggml_tensor*> parts;
  auto deep = deep_.begin();
  for (int i = 0; i < shape_.layers; ++i) {
    x = build_layer(planned, i, x, {sees_all(i) ? whole : inside, turns});
    if (deep == deep_.end() || deep->first != i) continue;
    parts.push_back(merge(planned, deep->second, x));
    ++deep;
  }
  x = ggml_set_name(graph.normalise(x, last_), "last");
  ggml_tensor* out = merge(planned, merger_, x);
  for (ggml_tensor* part : parts) out = ggml_concat(graph.context(), out, part, 0);
  return out;
}

}  // namespace saccade::engine::models
