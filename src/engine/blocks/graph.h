#pragma once
// Building blocks of our graphs on ggml. A product with packed weights runs on our kernels as
// custom nodes; with quantised weights it is ggml's own product. Both read the same Rows, so a
// model's graph is written once. Lifetimes: a Graph owns its nodes, their operands and its memory
// plan; weights must outlive it. Threads: the device's owner.
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/device.h"
#include "engine/gguf/weight_file.h"
#include "engine/kernels/attend_all.h"
#include "engine/kernels/matmul.h"

namespace saccade::engine {

// Weights of one product: outputs = weights . inputs + bias.
struct Linear {
  std::unique_ptr<kernels::PackedMatrix> packed;  // either this
  ggml_tensor* weight = nullptr;                  // or this
  ggml_tensor* bias = nullptr;                    // F32 [outputs], may be absent
  int inputs = 0, outputs = 0;
};
// Loads a product; several names are put side by side, e.g. query, key and value. Biases (all or
// none, F32) are joined likewise. Weights can be joined when can_join says so. Errors:
// kModelUnusable.
struct LinearNames {
  std::vector<std::string> weights, biases;
  int inputs = 0, outputs = 0;
};
core::Result<Linear> load_linear(gguf::WeightFile& file, const LinearNames& names);
// They can be one product: all float, or all of one quantised type.
bool can_join(const gguf::WeightFile& file, const std::vector<std::string>& weights);

enum class NormKind { kNone, kLayer, kRms };
struct Norm {
  NormKind kind = NormKind::kNone;
  ggml_tensor* scale = nullptr;  // F32 [width]
  ggml_tensor* shift = nullptr;  // F32 [width], may be absent
  float epsilon = 0;
};

// The left side of products: [width, rows] F32, normalised on the way. Made once, used by several
// products; each form is computed at most once.
struct Rows {
  ggml_tensor* source = nullptr;
  Norm norm;
  ggml_tensor* packed = nullptr;
  ggml_tensor* plain = nullptr;
};

struct LinearOptions {
  kernels::Activation activation = kernels::Activation::kNone;
  ggml_tensor* residual = nullptr;  // added after the activation, shape of the result
};

class Graph {
 public:
  Graph(Device& device, int nodes_max);

  ggml_context* context() const { return context_.get(); }
  ggml_cgraph* graph() const { return graph_; }

  // A tensor that is filled before each run.
  ggml_tensor* input(int type, const gguf::Shape& shape, const std::string& name);
  // Marks what is read after a run.
  void output(ggml_tensor* tensor);

  Rows rows(ggml_tensor* source, const Norm& norm = {}) { return {source, norm, nullptr, nullptr}; }
  ggml_tensor* normalise(ggml_tensor* x, const Norm& norm);
  ggml_tensor* multiply(Rows& rows, const Linear& linear, const LinearOptions& options = {});
  // Queries and keys turned; turns [head size, rows or a part that repeats], see rotate_heads.
  ggml_tensor* rotate(ggml_tensor* qkv, ggml_tensor* turns, int heads);
  // Every token sees every token of its group. qkv [3 * width, rows].
  ggml_tensor* attend_all(ggml_tensor* qkv, const kernels::HeadsShape& shape);

  // Plans the memory; after it, inputs can be filled and the graph run again and again.
  core::Status plan();
  core::Status compute();

 private:
  ggml_tensor* pack(const Rows& rows);
  ggml_tensor* multiply_packed(Rows& rows, const Linear& linear, const LinearOptions& options);
  // Keeps what a custom node needs for as long as the graph lives.
  template <class T>
  T* keep(T operands) {
    auto kept = std::make_shared<T>(std::move(operands));
    kept_.push_back(kept);
    return kept.get();
  }

  Device& device_;
  std::unique_ptr<ggml_context, DeviceDeleter> context_;
  ggml_cgraph* graph_ = nullptr;
  std::unique_ptr<ggml_gallocr, DeviceDeleter> allocator_;
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace saccade::engine
