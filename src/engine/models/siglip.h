#pragma once
// The SigLIP tower with Idefics3's connector (SmolVLM): pre-norm transformer over square patches,
// learned positions, pixel shuffle, one projection.
// Source: Zhai et al., "Sigmoid loss for language image pre-training", 2023; Laurencon et al.,
// "Building and better understanding vision-language models" (Idefics3), 2024. Tensor names and
// keys as llama.cpp publishes them. Threads: the device's owner.
#include <memory>
#include <vector>

#include "core/pixels.h"
#include "engine/blocks/graph.h"

namespace saccade::engine::models {

// Pictures are cut into this many patches; both divisible by the connector's `merge`.
struct PatchGrid {
  int columns = 0, rows = 0;
  bool operator==(const PatchGrid&) const = default;
};

struct SiglipShape {
  int picture_side = 0, patch = 0, width = 0, layers = 0, heads = 0, inner = 0;
  int merge = 0;      // patches per side that become one token
  int out_width = 0;  // of a visual token
  float epsilon = 0;
  kernels::Activation activation = kernels::Activation::kGeluTanh;
  float mean[3] = {}, deviation[3] = {};

  int grid_side() const { return picture_side / patch; }
  int patch_values() const { return patch * patch * 3; }
  int tokens(PatchGrid grid) const { return grid.columns / merge * (grid.rows / merge); }
};

// What comes out of one batch.
struct SiglipOutput {
  std::vector<float> tokens;  // F32 [pictures][tokens][out_width]
  // Of the probe, [pictures][tokens]: see VisualSpan.
  std::vector<float> received, spread;
};

class Siglip {
 public:
  // Queries that the probe looks through, at most: enough to rank tokens, under 1 % of the cost.
  static constexpr int kProbeQueries = 32;

  // Errors: kModelUnusable with the tensor or key that is wrong.
  static core::Result<std::unique_ptr<Siglip>> load(std::unique_ptr<gguf::WeightFile> file,
                                                    Device& device);

  const SiglipShape& shape() const { return shape_; }
  // Encodes pictures that all have `grid.columns * patch` x `grid.rows * patch` pixels in one
  // graph. Grids other than the model's own read the
  // position of the place they cover (Idefics3's rule: floor of the fractional coordinate). Errors:
  // kUsage (sizes), kExhausted (memory), kInternal.
  core::Result<SiglipOutput> encode(const std::vector<core::PixelView>& pictures, PatchGrid grid);

 private:
  struct Layer {
    Norm before_attention, before_feed;
    Linear qkv, out, up, down;
  };
  // A graph that fits one number of pictures and one grid; kept for the next call of that kind.
  struct Planned {
    int pictures = 0;
    PatchGrid grid;
    std::unique_ptr<Graph> graph;
    ggml_tensor *patches = nullptr, *positions = nullptr, *tokens = nullptr;
    std::vector<ggml_tensor*> probes;  // per picture: attention [patches][queries][heads]
  };

  Siglip(std::unique_ptr<gguf::WeightFile> file, Device& device)
      : file_(std::move(file)), device_(device) {}
  core::Status read_shape();
  core::Status load_weights();
  core::Result<Layer> load_layer(int index);
  core::Result<Planned*> plan(int pictures, PatchGrid grid);
  ggml_tensor* build(Planned& planned);
  ggml_tensor* build_layer(Planned& planned, std::size_t index, ggml_tensor* x,
                           const kernels::HeadsShape& heads);
  void build_probes(Planned& planned, ggml_tensor* qkv, const kernels::HeadsShape& heads);
  void read_probe(const Planned& planned, int picture, SiglipOutput& out) const;
  ggml_tensor* shuffle(Graph& graph, ggml_tensor* x, const Planned& planned);

  std::unique_ptr<gguf::WeightFile> file_;
  Device& device_;
  SiglipShape shape_;
  Linear patch_, connector_;
  ggml_tensor* positions_ = nullptr;  // F32 [width, grid_side^2]
  std::vector<Layer> layers_;
  Norm last_;
  std::vector<Planned> planned_;  // newest first, at most kPlannedMax
};

// Normalised patches of one picture: [patch][channel][y][x], patches in reading order.
void cut_patches(const SiglipShape& shape, const core::PixelView& picture, PatchGrid grid,
                 float* out);

}  // namespace saccade::engine::models
