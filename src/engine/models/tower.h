#pragma once
// What our vision towers have in common: sizes, patches, transformer layers, graphs kept for the
// next batch of the same kind, the probe. One architecture a file builds the rest.
// Source of the layers: Dosovitskiy et al., "An image is worth 16x16 words", 2021. Tensor names and
// keys as llama.cpp publishes them. Threads: the device's owner.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/pixels.h"
#include "engine/blocks/graph.h"

namespace saccade::engine::models {

// Pictures are cut into this many patches; both divisible by the tower's `merge`.
struct PatchGrid {
  int columns = 0, rows = 0;
  int patches() const { return columns * rows; }
  bool operator==(const PatchGrid&) const = default;
};

struct TowerShape {
  int picture_side = 0, patch = 0, width = 0, layers = 0, heads = 0, inner = 0;
  int merge = 1;        // patches per side that become one token
  int out_width = 0;    // of a visual token
  int patches_max = 0;  // of a picture
  float epsilon = 0;
  NormKind norm = NormKind::kLayer;
  kernels::Activation activation = kernels::Activation::kGeluTanh;
  float mean[3] = {}, deviation[3] = {};

  int grid_side() const { return picture_side / patch; }
  int head_size() const { return width / heads; }
  int patch_values() const { return patch * patch * 3; }
  int tokens(PatchGrid grid) const { return grid.columns / merge * (grid.rows / merge); }
};

// What comes out of one batch.
struct TowerOutput {
  std::vector<float> tokens;  // F32 [pictures][tokens][out_width], in reading order
  // Of the probe, [pictures][tokens]: see VisualSpan.
  std::vector<float> received, spread;
};

class Tower {
 public:
  // Queries that the probe looks through, at most: enough to rank tokens, under 1 % of the cost.
  static constexpr int kProbeQueries = 32;

  virtual ~Tower() = default;
  const TowerShape& shape() const { return shape_; }
  // Encodes pictures that all have `grid.columns * patch` x `grid.rows * patch` pixels in one
  // graph. Errors: kUsage (sizes), kExhausted (memory), kInternal.
  core::Result<TowerOutput> encode(const std::vector<core::PixelView>& pictures, PatchGrid grid);

 protected:
  struct Layer {
    Norm before_attention, before_feed;
    Linear qkv, out, gate, up, down;                                // gate: only with gated layers
    ggml_tensor *attention_scale = nullptr, *feed_scale = nullptr;  // F32 [width], may be absent
  };
  // A graph that fits one number of pictures and one grid; kept for the next call of that kind.
  struct Planned {
    int pictures = 0;
    PatchGrid grid;
    std::unique_ptr<Graph> graph;
    ggml_tensor *patches = nullptr, *tokens = nullptr;
    // Rows of a picture inside the tower: which patch in reading order each is, -1 = class token.
    std::vector<int> patch_of;
    std::vector<int> token_rows;       // which row of `tokens` is which token; empty = in order
    std::vector<ggml_tensor*> probes;  // per picture: attention [rows][queries][heads]
    // What depends on the grid only; filled before each run, since memory is reused inside one.
    std::vector<std::pair<ggml_tensor*, std::vector<std::uint8_t>>> constants;

    int rows() const { return static_cast<int>(patch_of.size()); }
    kernels::HeadsShape whole_pictures(const TowerShape& shape) const;
  };

  Tower(std::unique_ptr<gguf::WeightFile> file, Device& device)
      : file_(std::move(file)), device_(device) {}

  // Sizes, norm, activation, mean and deviation. Errors: kModelUnusable.
  core::Status read_shape();
  core::Result<int> whole(const std::string& key) const;
  core::Status check(bool fits, const std::string& what) const;
  // `names` in this order: weights, biases.
  core::Status load_product(const LinearNames& names, Linear& to);
  core::Status load_norm(const std::string& name, int width, float epsilon, Norm& to);
  core::Status load_layers(int count);

  // Which patch each row is; reading order unless the architecture has another.
  virtual std::vector<int> order_rows(PatchGrid grid) const;
  // From planned.patches to the tokens.
  virtual ggml_tensor* build(Planned& planned) = 0;
  // Whether a grid of positive sides can be encoded, and what is allowed.
  virtual bool takes(PatchGrid grid) const = 0;
  // Layer that the probe looks at: the last one but one, as the last serves the output alone.
  virtual int probed_layer() const { return std::max(static_cast<int>(layers_.size()) - 2, 0); }

  ggml_tensor* constant(Planned& planned, int type, const gguf::Shape& shape,
                        const std::string& name, const void* data);
  // One layer; `turns` (may be null) rotates queries and keys, `groups` says who sees whom.
  struct LayerOptions {
    const kernels::HeadsShape& groups;
    ggml_tensor* turns = nullptr;
  };
  ggml_tensor* build_layer(Planned& planned, int index, ggml_tensor* x,
                           const LayerOptions& options);
  // merge x merge patches in reading order become one row: Idefics3's and InternVL's shuffle.
  ggml_tensor* shuffle(Planned& planned, ggml_tensor* x) const;

  const std::unique_ptr<gguf::WeightFile> file_;
  Device& device_;
  TowerShape shape_;
  std::vector<Layer> layers_;

 private:
  core::Status load_layer(int index, Layer& layer);
  core::Status load_feed(int index, Layer& layer);
  core::Status check_pictures(const std::vector<core::PixelView>& pictures, PatchGrid grid) const;
  core::Result<Planned*> plan(int pictures, PatchGrid grid);
  ggml_tensor* add_scaled(Planned& planned, Rows& rows, const Linear& linear, ggml_tensor* scale,
                          ggml_tensor* x);
  ggml_tensor* feed(Planned& planned, const Layer& layer, ggml_tensor* x);
  void build_probes(Planned& planned, ggml_tensor* qkv);
  void read_probe(const Planned& planned, int picture, TowerOutput& out) const;
  void fill(Planned& planned, const std::vector<core::PixelView>& pictures) const;

  std::vector<Planned> planned_;  // newest first, at most kPlannedMax
};

// Weight names of a layer part: "v.blk.3.attn_q".
std::string layer_name(int layer, const std::string& rest);
// All weights of a tower's layers are of kinds that its graph takes: attention weights of a layer
// can be joined, patches are float.
bool takes_weights(const gguf::WeightFile& file);

}  // namespace saccade::engine::models
