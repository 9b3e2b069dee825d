#include "engine/blocks/graph.h"

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/kernels/activate.h"
#include "engine/kernels/rotate_heads.h"

namespace saccade::engine {
namespace {

using kernels::PackedRows;
using kernels::Share;

struct PackOperands {
  NormKind kind;
  float epsilon;
};

// One row, normalised into `out`.
void normalise_row(const PackOperands& how, const ggml_tensor* node, const float* x, float* out) {
  const auto width = static_cast<std::size_t>(node->src[0]->ne[0]);
  double sum = 0, squares = 0;
  if (how.kind == NormKind::kLayer) {
    for (std::size_t i = 0; i < width; ++i) sum += x[i];
  }
  const auto mean = static_cast<float>(sum / static_cast<double>(width));
  for (std::size_t i = 0; i < width; ++i) {
    out[i] = x[i] - mean;
    squares += static_cast<double>(out[i]) * out[i];
  }
  const float variance = static_cast<float>(squares / static_cast<double>(width));
  const float inverse = 1.0F / std::sqrt(variance + how.epsilon);
  const auto* scale = static_cast<const float*>(node->src[1]->data);
  const ggml_tensor* shift = node->src[2];
  for (std::size_t i = 0; i < width; ++i) out[i] = out[i] * inverse * scale[i];
  if (shift == nullptr) return;
  const auto* add = static_cast<const float*>(shift->data);
  for (std::size_t i = 0; i < width; ++i) out[i] += add[i];
}

void run_pack(ggml_tensor* node, int index, int count, void* user) {
  const auto& how = *static_cast<const PackOperands*>(user);
  const ggml_tensor* source = node->src[0];
  const auto width = static_cast<std::size_t>(source->ne[0]);
  const auto rows = static_cast<int>(ggml_nrows(source));
  const auto packed = PackedRows::in(node->data, rows, static_cast<int>(width));
  const auto part = kernels::part_of(rows, Share{index, count});
  std::vector<float> normalised(how.kind == NormKind::kNone ? 0 : width);
  for (int row = part.first; row < part.last; ++row) {
    const auto* x = static_cast<const float*>(source->data) + static_cast<std::size_t>(row) * width;
    if (how.kind != NormKind::kNone) {
      normalise_row(how, node, x, normalised.data());
      x = normalised.data();
    }
    kernels::pack_row(packed, row, x);
  }
}

struct MultiplyOperands {
  const kernels::PackedMatrix* weights;
  kernels::Activation activation;
  bool bias, residual;
};

void run_multiply(ggml_tensor* node, int index, int count, void* user) {
  const auto& what = *static_cast<const MultiplyOperands*>(user);
  kernels::Product product;
  product.columns = what.weights->columns();
  product.rows =
      PackedRows::in(node->src[0]->data, static_cast<int>(ggml_nrows(node)), product.columns.inner);
  product.out = static_cast<float*>(node->data);
  product.step = node->ne[0];
  product.activation = what.activation;
  int next = 1;
  if (what.bias) product.bias = static_cast<const float*>(node->src[next++]->data);
  if (what.residual) product.residual = static_cast<const float*>(node->src[next]->data);
  kernels::multiply(product, Share{index, count});
}

struct AttendOperands {
  kernels::HeadsShape shape;
  std::unique_ptr<kernels::AttendScratch> scratch;
};

void run_rotate(ggml_tensor* node, int index, int count, void* user) {
  const int heads = *static_cast<const int*>(user);
  const ggml_tensor *qkv = node->src[0], *turns = node->src[1];
  kernels::rotate_heads(
      {heads, static_cast<int>(qkv->ne[0]) / (3 * heads), static_cast<int>(ggml_nrows(qkv)),
       static_cast<int>(ggml_nrows(turns)), static_cast<const float*>(qkv->data),
       static_cast<const float*>(turns->data), static_cast<float*>(node->data)},
      Share{index, count});
}

void run_pack_heads(ggml_tensor* node, int index, int count, void* user) {
  const auto& what = *static_cast<const AttendOperands*>(user);
  kernels::pack_heads(what.shape, static_cast<const float*>(node->src[0]->data), node->data,
                      Share{index, count});
}

void run_attend(ggml_tensor* node, int index, int count, void* user) {
  const auto& what = *static_cast<const AttendOperands*>(user);
  kernels::attend({what.shape, static_cast<const float*>(node->src[0]->data), node->src[1]->data,
                   static_cast<float*>(node->data), what.scratch.get()},
                  Share{index, count});
}

// ggml's graphs fuse nothing, so the activation is its own node there.
ggml_tensor* activate_plain(ggml_context* context, ggml_tensor* x, kernels::Activation activation) {
  switch (activation) {
    case kernels::Activation::kNone:
      return x;
    case kernels::Activation::kGeluTanh:
      return ggml_gelu(context, x);
    case kernels::Activation::kGeluErf:
      return ggml_gelu_erf(context, x);
    case kernels::Activation::kGeluQuick:
      return ggml_gelu_quick(context, x);
    case kernels::Activation::kSilu:
      return ggml_silu(context, x);
  }
  return x;
}

}  // namespace

bool can_join(const gguf::WeightFile& file, const std::vector<std::string>& weights) {
  constexpr int kFloat = -1;
  const auto kind = [&](const std::string& name) {
    return file.is_float(name) ? std::optional<int>(kFloat) : file.type(name);
  };
  return std::all_of(weights.begin(), weights.end(), [&](const std::string& name) {
    return kind(name) && kind(name) == kind(weights.front());
  });
}

core::Result<Linear> load_linear(gguf::WeightFile& file, const LinearNames& names) {
  Linear out;
  out.inputs = names.inputs;
  out.outputs = names.outputs;
  if (file.is_float(names.weights.front())) {
    auto packed = file.pack(names.weights, names.inputs);
    if (!packed) return packed.error();
    if ((*packed)->columns().columns != names.outputs) {
      return file.unusable("'" + names.weights.front() + "' gives " +
                           std::to_string((*packed)->columns().columns) + " outputs, expected " +
                           std::to_string(names.outputs));
    }
    out.packed = std::move(*packed);
  } else {
    auto weight = names.weights.size() == 1
                      ? file.load(names.weights.front(), {names.inputs, names.outputs})
                      : file.load_joined(names.weights, names.inputs, names.outputs);
    if (!weight) return weight.error();
    out.weight = *weight;
  }
  const auto present = std::count_if(names.biases.begin(), names.biases.end(),
                                     [&](const std::string& name) { return file.has(name); });
  if (present == 0) return out;
  auto bias = file.load_joined_f32(names.biases, names.outputs);
  if (!bias) return bias.error();
  out.bias = *bias;
  return out;
}

Graph::Graph(Device& device, int nodes_max) : device_(device) {
  ggml_init_params params{};
  params.mem_size = ggml_tensor_overhead() * static_cast<std::size_t>(nodes_max) * 2 +
                    ggml_graph_overhead_custom(static_cast<std::size_t>(nodes_max), false);
  params.no_alloc = true;
  context_.reset(ggml_init(params));
  graph_ = ggml_new_graph_custom(context_.get(), static_cast<std::size_t>(nodes_max), false);
}

ggml_tensor* Graph::input(int type, const gguf::Shape& shape, const std::string& name) {
  ggml_tensor* tensor = ggml_new_tensor(context_.get(), static_cast<ggml_type>(type),
                                        static_cast<int>(shape.size()), shape.data());
  ggml_set_name(tensor, name.c_str());
  ggml_set_input(tensor);
  return tensor;
}

void Graph::output(ggml_tensor* tensor) {
  ggml_set_output(tensor);
  ggml_build_forward_expand(graph_, tensor);
}

ggml_tensor* Graph::normalise(ggml_tensor* x, const Norm& norm) {
  ggml_context* context = context_.get();
  if (norm.kind == NormKind::kNone) return x;
  x = norm.kind == NormKind::kLayer ? ggml_norm(context, x, norm.epsilon)
                                    : ggml_rms_norm(context, x, norm.epsilon);
  x = ggml_mul(context, x, norm.scale);
  return norm.shift == nullptr ? x : ggml_add(context, x, norm.shift);
}

ggml_tensor* Graph::pack(const Rows& rows) {
  const auto* how = keep(PackOperands{rows.norm.kind, rows.norm.epsilon});
  ggml_tensor* source =
      ggml_is_contiguous(rows.source) ? rows.source : ggml_cont(context_.get(), rows.source);
  const auto bytes =
      PackedRows::bytes(static_cast<int>(ggml_nrows(source)), static_cast<int>(source->ne[0]));
  std::vector<ggml_tensor*> args{source};
  if (rows.norm.scale != nullptr) args.push_back(rows.norm.scale);
  if (rows.norm.shift != nullptr) args.push_back(rows.norm.shift);
  return ggml_custom_4d(context_.get(), GGML_TYPE_I8, static_cast<std::int64_t>(bytes), 1, 1, 1,
                        args.data(), static_cast<int>(args.size()), run_pack, GGML_N_TASKS_MAX,
                        const_cast<PackOperands*>(how));
}

ggml_tensor* Graph::multiply_packed(Rows& rows, const Linear& linear,
                                    const LinearOptions& options) {
  if (rows.packed == nullptr) rows.packed = pack(rows);
  auto* what = keep(MultiplyOperands{linear.packed.get(), options.activation,
                                     linear.bias != nullptr, options.residual != nullptr});
  std::vector<ggml_tensor*> args{rows.packed};
  if (linear.bias != nullptr) args.push_back(linear.bias);
  if (options.residual != nullptr) args.push_back(options.residual);
  return ggml_custom_4d(context_.get(), GGML_TYPE_F32, linear.outputs, ggml_nrows(rows.source), 1,
                        1, args.data(), static_cast<int>(args.size()), run_multiply,
                        GGML_N_TASKS_MAX, what);
}

ggml_tensor* Graph::multiply(Rows& rows, const Linear& linear, const LinearOptions& options) {
  if (linear.packed != nullptr) return multiply_packed(rows, linear, options);
  ggml_context* context = context_.get();
  if (rows.plain == nullptr) rows.plain = normalise(rows.source, rows.norm);
  ggml_tensor* out = ggml_mul_mat(context, linear.weight, rows.plain);
  if (linear.bias != nullptr) out = ggml_add(context, out, linear.bias);
  out = activate_plain(context, out, options.activation);
  return options.residual == nullptr ? out : ggml_add(context, out, options.residual);
}

ggml_tensor* Graph::rotate(ggml_tensor* qkv, ggml_tensor* turns, int heads) {
  ggml_tensor* args[2] = {qkv, turns};
  return ggml_custom_4d(context_.get(), GGML_TYPE_F32, qkv->ne[0], ggml_nrows(qkv), 1, 1, args, 2,
                        run_rotate, GGML_N_TASKS_MAX, keep(heads));
}

ggml_tensor* Graph::attend_all(ggml_tensor* qkv, const kernels::HeadsShape& shape) {
  auto* what = keep(
      AttendOperands{shape, std::make_unique<kernels::AttendScratch>(shape, device_.threads())});
  ggml_tensor* args[2] = {qkv, nullptr};
  args[1] = ggml_custom_4d(context_.get(), GGML_TYPE_I8,
                           static_cast<std::int64_t>(kernels::packed_heads_bytes(shape)), 1, 1, 1,
                           args, 1, run_pack_heads, GGML_N_TASKS_MAX, what);
  return ggml_custom_4d(context_.get(), GGML_TYPE_F32, shape.width(), shape.rows(), 1, 1, args, 2,
                        run_attend, GGML_N_TASKS_MAX, what);
}

core::Status Graph::plan() {
  allocator_.reset(ggml_gallocr_new(ggml_backend_get_default_buffer_type(device_.backend())));
  if (!ggml_gallocr_alloc_graph(allocator_.get(), graph_)) {
    return core::error(
        core::ErrorCode::kExhausted,
        "no memory for a graph of " + std::to_string(ggml_graph_n_nodes(graph_)) + " nodes",
        "use a smaller batch or a smaller context");
  }
  return {};
}

core::Status Graph::compute() { return device_.compute(graph_); }

}  // namespace saccade::engine
