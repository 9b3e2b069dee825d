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
  const LinearNames patch{{"v.patch_embd.weight"}, {}, shape_.patch_values(), shape_.width};
  if (auto status = load_product(patch, patch_); !status) return status;
  LinearNames next = patch;
  next.weights = {"v.patch_embd.weight.1"};
  if (auto status = load_product(next, patch_next_); !status) return status;
  if (auto status = load_layers(shape_.layers); !status) return status;
  if (auto status = load_norm("v.post_ln", shape_.width, shape_.epsilon, last_); !status) {
    return status;
  }
  return read_merger();
}

core::Status QwenTower::read_merger() {
  const auto in = file_->shape("mm.0.weight"), out = file_->shape("mm.2.weight");
  if (!in || !out || in->size() != 2 || out->size() != 2) {
    return file_->unusable("tensors 'mm.0.weight' and 'mm.2.weight' must be there");
  }
  const int merged = shape_.width * kMerge * kMerge, inner = static_cast<int>((*in)[1]);
  shape_.out_width = static_cast<int>((*out)[1]);
  if (auto status = load_product({{"mm.0.weight"}, {"mm.0.bias"}, merged, inner}, merge_in_);
      !status) {
    return status;
  }
  return load_product({{"mm.2.weight"}, {"mm.2.bias"}, inner, shape_.out_width}, merge_out_);
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

ggml_tensor* QwenTower::build(Planned& planned) {
  Graph& graph = *planned.graph;
  ggml_context* context = graph.context();
  // A token's place in reading order, from the first of its patches.
  const PatchGrid tokens = token_grid(planned.grid);
  planned.token_rows.resize(static_cast<std::size_t>(shape_.tokens(planned.grid)));
  for (int row = 0; row < planned.rows(); row += kMerge * kMerge) {
    const int patch = planned.patch_of[static_cast<std::size_t>(row)];
    const int y = patch / planned.grid.columns / kMerge;
    const int x = patch % planned.grid.columns / kMerge;
    planned.token_rows[static_cast<std::size_t>(y * tokens.columns + x)] = row / (kMerge * kMerge);
  }
  Rows cut = graph.rows(planned.patches);
  ggml_tensor* x = graph.multiply(cut, patch_);
  x = ggml_set_name(graph.multiply(cut, patch_next_, {kernels::Activation::kNone, x}), "patched");
  ggml_tensor* turns = build_turns(planned);
  const auto whole = planned.whole_pictures(shape_), inside = windows(planned);
  for (int i = 0; i < shape_.layers; ++i) {
    x = build_layer(planned, i, x, {sees_all(i) ? whole : inside, turns});
  }
  x = ggml_set_name(graph.normalise(x, last_), "last");
  x = ggml_reshape_2d(context, x, std::int64_t{shape_.width} * kMerge * kMerge,
                      ggml_nrows(x) / (kMerge * kMerge));
  Rows merged = graph.rows(x);
  x = graph.multiply(merged, merge_in_, {kernels::Activation::kGeluTanh, nullptr});
  Rows inner = graph.rows(ggml_set_name(x, "merged"));
  return graph.multiply(inner, merge_out_);
}

}  // namespace saccade::engine::models
