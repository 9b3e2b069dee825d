#include "engine/models/decoder.h"

#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace saccade::engine::models {
namespace {

constexpr std::size_t kPlannedMax = 8;
constexpr int kNodesPerLayer = 48, kNodesElse = 64;

std::string layer_name(int layer, const std::string& rest) {
  return "blk." + std::to_string(layer) + "." + rest;
}

core::Result<Norm> load_norm(gguf::WeightFile& file, const std::string& name, int width,
                             float epsilon) {
  auto scale = file.load_f32(name + ".weight", {width});
  if (!scale) return scale.error();
  return Norm{NormKind::kRms, *scale, nullptr, epsilon};
}

struct NamedLinear {
  LinearNames names;
  Linear* to;
};

core::Status load_all(gguf::WeightFile& file, const std::vector<NamedLinear>& entries) {
  for (const auto& entry : entries) {
    auto linear = load_linear(file, entry.names);
    if (!linear) return linear.error();
    *entry.to = std::move(*linear);
  }
  return {};
}

}  // namespace

void Decoder::Deleter::operator()(ggml_backend_buffer* buffer) const {
  ggml_backend_buffer_free(buffer);
}
Decoder::~Decoder() = default;

bool Decoder::serves(const gguf::WeightFile& file) {
  const auto& header = file.header();
  const std::string a = header.text("general.architecture");
  if (a != "llama" && a != "qwen2" && a != "qwen2vl" && a != "qwen3" && a != "qwen3vl")
    return false;
  // Stretched rotations and experts are left to llama.cpp.
  const std::string scaling = header.text(a + ".rope.scaling.type");
  return (scaling.empty() || scaling == "none") &&
         header.number(a + ".expert_count").value_or(0) == 0 &&
         header.number(a + ".attention.sliding_window").value_or(0) == 0 &&
         !file.has("rope_factors_long.weight") && !header.number(a + ".attention.scale");
}

core::Result<std::unique_ptr<Decoder>> Decoder::load(std::unique_ptr<gguf::WeightFile> file,
                                                     Device& device, int cells) {
  const int rounded = (cells + kSpanStep - 1) / kSpanStep * kSpanStep;
  std::unique_ptr<Decoder> out(new Decoder(std::move(file), device, rounded));
  if (auto status = out->read_shape(); !status) return status.error();
  if (auto status = out->load_weights(); !status) return status.error();
  if (auto status = out->make_cells(); !status) return status.error();
  return core::Result<std::unique_ptr<Decoder>>(std::move(out));
}

core::Status Decoder::read_shape() {
  const auto& header = file_->header();
  DecoderShape& s = shape_;
  s.architecture = header.text("general.architecture");
  const auto whole = [&](const char* key, int otherwise) {
    const auto value = header.number(s.architecture + "." + key);
    return value ? static_cast<int>(*value) : otherwise;
  };
  s.width = whole("embedding_length", 0);
  s.layers = whole("block_count", 0);
  s.heads = whole("attention.head_count", 0);
  s.heads_kv = whole("attention.head_count_kv", s.heads);
  s.inner = whole("feed_forward_length", 0);
  if (s.width <= 0 || s.layers <= 0 || s.heads <= 0 || s.heads_kv <= 0 || s.inner <= 0 ||
      s.heads % s.heads_kv != 0) {
    return file_->unusable("width " + std::to_string(s.width) + ", layers " +
                           std::to_string(s.layers) + ", heads " + std::to_string(s.heads) + "/" +
                           std::to_string(s.heads_kv) + ", inner width " + std::to_string(s.inner) +
                           " are no decoder");
  }
  s.head_size = whole("attention.key_length", s.width / s.heads);
  s.rotated = whole("rope.dimension_count", s.head_size);
  if (s.head_size <= 0 || whole("attention.value_length", s.head_size) != s.head_size ||
      s.rotated <= 0 || s.rotated > s.head_size || s.rotated % 2 != 0) {
    return file_->unusable("head size " + std::to_string(s.head_size) + " with " +
                           std::to_string(s.rotated) + " rotated elements");
  }
  s.epsilon = static_cast<float>(
      header.number(s.architecture + ".attention.layer_norm_rms_epsilon").value_or(1e-5));
  if (auto status = read_rotation(); !status) return status;
  s.deep = whole("n_deepstack_layers", 0);
  const auto table = file_->shape("token_embd.weight");
  if (!table || table->size() != 2 || (*table)[0] != s.width) {
    return file_->unusable("tensor 'token_embd.weight' is missing or has another width");
  }
  s.vocabulary = static_cast<int>((*table)[1]);
  return {};
}

core::Status Decoder::read_rotation() {
  DecoderShape& s = shape_;
  s.halves = s.architecture != "llama";
  s.rope_base = static_cast<float>(
      file_->header().number(s.architecture + ".rope.freq_base").value_or(10'000));
  if (!s.architecture.ends_with("vl")) return {};
  s.woven = s.architecture == "qwen3vl";
  const std::string key = s.architecture + ".rope.dimension_sections";
  const auto sections = file_->whole_numbers(key);
  std::int64_t sum = 0;
  for (const auto pairs : sections) sum += pairs;
  if (sections.size() < 3 || sections.size() > 4 || sum != s.rotated / 2 ||
      std::any_of(sections.begin(), sections.end(), [](auto pairs) { return pairs < 0; }) ||
      (sections.size() == 4 && sections[3] != 0)) {
    return file_->unusable("entry '" + key + "' must hold three counts of pairs that add up to " +
                           std::to_string(s.rotated / 2) + ", has " +
                           std::to_string(sections.size()) + " that add up to " +
                           std::to_string(sum));
  }
  for (std::size_t i = 0; i < 3; ++i) s.sections[i] = static_cast<int>(sections[i]);
  return {};
}

core::Status Decoder::load_weights() {
  auto table = file_->load("token_embd.weight", {shape_.width, shape_.vocabulary});
  if (!table) return table.error();
  embeddings_ = head_ = *table;
  if (file_->has("output.weight")) {
    auto head = file_->load("output.weight", {shape_.width, shape_.vocabulary});
    if (!head) return head.error();
    head_ = *head;
  }
  if (file_->has("rope_freqs.weight")) {
    auto frequencies = file_->load_f32("rope_freqs.weight", {shape_.rotated / 2});
    if (!frequencies) return frequencies.error();
    frequencies_ = *frequencies;
  }
  auto last = load_norm(*file_, "output_norm", shape_.width, shape_.epsilon);
  if (!last) return last.error();
  last_ = *last;
  layers_.resize(static_cast<std::size_t>(shape_.layers));
  for (int i = 0; i < shape_.layers; ++i) {
    Layer& layer = layers_[static_cast<std::size_t>(i)];
    if (auto status = load_attention(layer, i); !status) return status;
    if (auto status = load_feed(layer, i); !status) return status;
  }
  return {};
}

core::Status Decoder::load_attention(Layer& layer, int index) {
  const auto name = [&](const char* rest) { return layer_name(index, rest); };
  const int query = shape_.heads * shape_.head_size;
  const int key = shape_.heads_kv * shape_.head_size;
  auto norm = load_norm(*file_, name("attn_norm"), shape_.width, shape_.epsilon);
  if (!norm) return norm.error();
  layer.before_attention = *norm;
  if (file_->has(name("attn_q_norm.weight"))) {
    auto query_norm = load_norm(*file_, name("attn_q_norm"), shape_.head_size, shape_.epsilon);
    if (!query_norm) return query_norm.error();
    auto key_norm = load_norm(*file_, name("attn_k_norm"), shape_.head_size, shape_.epsilon);
    if (!key_norm) return key_norm.error();
    layer.query_norm = *query_norm;
    layer.key_norm = *key_norm;
  }
  std::vector<NamedLinear> entries{
      {{{name("attn_output.weight")}, {name("attn_output.bias")}, query, shape_.width},
       &layer.out}};
  const std::vector<std::string> weights{name("attn_q.weight"), name("attn_k.weight"),
                                         name("attn_v.weight")};
  const std::vector<std::string> biases{name("attn_q.bias"), name("attn_k.bias"),
                                        name("attn_v.bias")};
  if (can_join(*file_, weights)) {
    entries.push_back({{weights, biases, shape_.width, query + 2 * key}, &layer.qkv});
  } else {
    entries.push_back({{{weights[0]}, {biases[0]}, shape_.width, query}, &layer.query});
    entries.push_back({{{weights[1]}, {biases[1]}, shape_.width, key}, &layer.key});
    entries.push_back({{{weights[2]}, {biases[2]}, shape_.width, key}, &layer.value});
  }
  return load_all(*file_, entries);
}

core::Status Decoder::load_feed(Layer& layer, int index) {
  const auto name = [&](const char* rest) { return layer_name(index, rest); };
  auto norm = load_norm(*file_, name("ffn_norm"), shape_.width, shape_.epsilon);
  if (!norm) return norm.error();
  layer.before_feed = *norm;
  std::vector<NamedLinear> entries{
      {{{name("ffn_down.weight")}, {name("ffn_down.bias")}, shape_.inner, shape_.width},
       &layer.down}};
  const std::vector<std::string> weights{name("ffn_gate.weight"), name("ffn_up.weight")};
  const std::vector<std::string> biases{name("ffn_gate.bias"), name("ffn_up.bias")};
  if (can_join(*file_, weights)) {
    entries.push_back({{weights, biases, shape_.width, 2 * shape_.inner}, &layer.gate_up});
  } else {
    entries.push_back({{{weights[0]}, {biases[0]}, shape_.width, shape_.inner}, &layer.gate});
    entries.push_back({{{weights[1]}, {biases[1]}, shape_.width, shape_.inner}, &layer.up});
  }
  return load_all(*file_, entries);
}

core::Status Decoder::make_cells() {
  ggml_init_params params{};
  params.mem_size = ggml_tensor_overhead() * 2 * layers_.size();
  params.no_alloc = true;
  memory_context_.reset(ggml_init(params));
  const std::int64_t width = std::int64_t{shape_.heads_kv} * shape_.head_size;
  for (auto& layer : layers_) {
    layer.keys = ggml_new_tensor_2d(memory_context_.get(), GGML_TYPE_F16, width, cells_);
    layer.values = ggml_new_tensor_2d(memory_context_.get(), GGML_TYPE_F16, width, cells_);
  }
  memory_.reset(ggml_backend_alloc_ctx_tensors(memory_context_.get(), device_.backend()));
  if (!memory_) {
    return core::error(core::ErrorCode::kExhausted,
                       "no memory for a context of " + std::to_string(cells_) + " tokens",
                       "ask for a smaller context");
  }
  // A masked cell still enters sums as zero times its content: it must be finite.
  ggml_backend_buffer_clear(memory_.get(), 0);
  return {};
}

void Decoder::embed(std::int32_t id, float* out) const {
  const auto* row = static_cast<const std::uint8_t*>(embeddings_->data) +
                    static_cast<std::size_t>(id) * embeddings_->nb[1];
  if (embeddings_->type == GGML_TYPE_F32) {
    std::memcpy(out, row, sizeof(float) * static_cast<std::size_t>(shape_.width));
  } else {
    ggml_get_type_traits(embeddings_->type)->to_float(row, out, shape_.width);
  }
}

bool Decoder::Planned::fits(const Step& step) const {
  return tokens == step.tokens() && outputs == static_cast<int>(step.outputs.size()) &&
         span == step.span;
}

ggml_tensor* Decoder::rotate(const Planned& planned, ggml_tensor* heads) const {
  ggml_context* c = planned.graph->context();
  if (!shape_.axes()) {
    return ggml_rope_ext(c, heads, planned.positions, frequencies_, shape_.rotated,
                         shape_.halves ? GGML_ROPE_TYPE_NEOX : GGML_ROPE_TYPE_NORMAL, 0,
                         shape_.rope_base, 1.0F, 0.0F, 1.0F, 32.0F, 1.0F);
  }
  int sections[GGML_MROPE_SECTIONS] = {shape_.sections[0], shape_.sections[1], shape_.sections[2]};
  return ggml_rope_multi(c, heads, planned.positions, frequencies_, shape_.rotated, sections,
                         shape_.woven ? GGML_ROPE_TYPE_IMROPE : GGML_ROPE_TYPE_MROPE, 0,
                         shape_.rope_base, 1.0F, 0.0F, 1.0F, 32.0F, 1.0F);
}

// As the rotation reads them: with axes all t, all h, all w and as many zeros.
std::vector<std::int32_t> Decoder::lay_out(const std::vector<Position>& positions) const {
  std::vector<std::int32_t> out;
  out.reserve(4 * positions.size());
  for (const auto& p : positions) out.push_back(p.t);
  if (!shape_.axes()) return out;
  for (const auto& p : positions) out.push_back(p.h);
  for (const auto& p : positions) out.push_back(p.w);
  out.resize(positions.size() * GGML_MROPE_SECTIONS);
  return out;
}

Decoder::Projected Decoder::project(Planned& planned, const Layer& layer, ggml_tensor* x) {
  Graph& graph = *planned.graph;
  ggml_context* c = graph.context();
  const std::int64_t size = shape_.head_size, n = planned.tokens;
  const std::size_t element = sizeof(float);
  Rows rows = graph.rows(x, layer.before_attention);
  Projected out{};
  if (layer.qkv.outputs > 0) {
    ggml_tensor* all = graph.multiply(rows, layer.qkv);
    const auto part = [&](std::int64_t heads, std::int64_t first) {
      return ggml_view_3d(c, all, size, heads, n, static_cast<std::size_t>(size) * element,
                          all->nb[1], static_cast<std::size_t>(first * size) * element);
    };
    out = {part(shape_.heads, 0), part(shape_.heads_kv, shape_.heads),
           part(shape_.heads_kv, shape_.heads + shape_.heads_kv)};
  } else {
    out = {ggml_reshape_3d(c, graph.multiply(rows, layer.query), size, shape_.heads, n),
           ggml_reshape_3d(c, graph.multiply(rows, layer.key), size, shape_.heads_kv, n),
           ggml_reshape_3d(c, graph.multiply(rows, layer.value), size, shape_.heads_kv, n)};
  }
  out.query = graph.normalise(out.query, layer.query_norm);
  out.key = graph.normalise(out.key, layer.key_norm);
  out.query = rotate(planned, out.query);
  out.key = rotate(planned, out.key);
  return out;
}

ggml_tensor* Decoder::attend(Planned& planned, const Layer& layer, const Projected& projected) {
  Graph& graph = *planned.graph;
  ggml_context* c = graph.context();
  const std::int64_t size = shape_.head_size, heads = shape_.heads_kv, n = planned.tokens;
  const auto rows = [&](ggml_tensor* t) {
    return ggml_view_2d(c, t, size * heads, n, t->nb[2], 0);
  };
  ggml_build_forward_expand(graph.graph(),
                            ggml_set_rows(c, layer.keys, rows(projected.key), planned.cells));
  ggml_build_forward_expand(graph.graph(),
                            ggml_set_rows(c, layer.values, rows(projected.value), planned.cells));
  const auto read = [&](ggml_tensor* t) {
    ggml_tensor* view =
        ggml_view_3d(c, t, size, heads, planned.span, ggml_row_size(t->type, size), t->nb[1], 0);
    return ggml_permute(c, view, 0, 2, 1, 3);
  };
  ggml_tensor* out = ggml_flash_attn_ext(c, ggml_permute(c, projected.query, 0, 2, 1, 3),
                                         read(layer.keys), read(layer.values), planned.mask,
                                         1.0F / std::sqrt(static_cast<float>(size)), 0.0F, 0.0F);
  return ggml_reshape_2d(c, out, size * shape_.heads, n);
}

ggml_tensor* Decoder::feed(Graph& graph, const Layer& layer, ggml_tensor* x) {
  Rows rows = graph.rows(x, layer.before_feed);
  ggml_tensor* inner = nullptr;
  if (layer.gate_up.outputs > 0) {
    inner = ggml_swiglu(graph.context(), graph.multiply(rows, layer.gate_up));
  } else {
    inner = ggml_swiglu_split(graph.context(), graph.multiply(rows, layer.gate),
                              graph.multiply(rows, layer.up));
  }
  Rows out = graph.rows(inner);
  return graph.multiply(out, layer.down, {kernels::Activation::kNone, x});
}

void Decoder::build(Planned& planned) {
  Graph& graph = *planned.graph;
  const std::int64_t n = planned.tokens;
  planned.inputs = graph.input(GGML_TYPE_F32, {shape_.input_width(), n}, "inputs");
  planned.positions =
      graph.input(GGML_TYPE_I32, {shape_.axes() ? n * GGML_MROPE_SECTIONS : n}, "positions");
  planned.cells = graph.input(GGML_TYPE_I32, {n}, "cells");
  planned.mask = graph.input(GGML_TYPE_F16, {planned.span, n}, "mask");
  const auto part = [&](std::size_t index) {
    const std::size_t first = index * static_cast<std::size_t>(shape_.width) * sizeof(float);
    return ggml_view_2d(graph.context(), planned.inputs, shape_.width, n, planned.inputs->nb[1],
                        first);
  };
  ggml_tensor* x = shape_.deep == 0 ? planned.inputs : ggml_cont(graph.context(), part(0));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    Rows attended = graph.rows(attend(planned, layer, project(planned, layer, x)));
    x = graph.multiply(attended, layer.out, {kernels::Activation::kNone, x});
    x = feed(graph, layer, x);
    if (static_cast<int>(i) < shape_.deep) x = ggml_add(graph.context(), x, part(i + 1));
    ggml_format_name(x, "layer_%d", static_cast<int>(i));
  }
  if (planned.outputs == 0) {
    graph.output(x);  // memory is written on the way
    return;
  }
  planned.chosen = graph.input(GGML_TYPE_I32, {planned.outputs}, "outputs");
  x = ggml_get_rows(graph.context(), x, planned.chosen);
  planned.logits = ggml_mul_mat(graph.context(), head_, graph.normalise(x, last_));
  graph.output(planned.logits);
}

core::Result<Decoder::Planned*> Decoder::plan(const Step& step) {
  const auto found = std::find_if(planned_.begin(), planned_.end(),
                                  [&](const Planned& p) { return p.fits(step); });
  if (found != planned_.end()) {
    std::rotate(planned_.begin(), found, found + 1);
    return &planned_.front();
  }
  Planned planned;
  planned.tokens = step.tokens();
  planned.outputs = static_cast<int>(step.outputs.size());
  planned.span = step.span;
  planned.graph = std::make_unique<Graph>(device_, shape_.layers * kNodesPerLayer + kNodesElse);
  build(planned);
  if (auto status = planned.graph->plan(); !status) return status.error();
  if (planned_.size() >= kPlannedMax) planned_.pop_back();
  planned_.insert(planned_.begin(), std::move(planned));
  return &planned_.front();
}

core::Result<std::span<const float>> Decoder::run(const Step& step) {
  const auto n = static_cast<std::size_t>(step.tokens());
  if (n == 0 || n > kStepTokensMax || step.cells.size() != n ||
      step.inputs.size() != n * static_cast<std::size_t>(shape_.input_width()) || step.span <= 0 ||
      step.span > cells_ || step.span % kSpanStep != 0 ||
      step.mask.size() != n * static_cast<std::size_t>(step.span)) {
    return core::error(core::ErrorCode::kUsage, "a step of " + std::to_string(n) + " tokens over " +
                                                    std::to_string(step.span) +
                                                    " cells that does not fit together");
  }
  const auto planned = plan(step);
  if (!planned) return planned.error();
  Planned& p = **planned;
  const auto fill = [](ggml_tensor* to, const auto& from) {
    ggml_backend_tensor_set(to, from.data(), 0, from.size() * sizeof(from[0]));
  };
  fill(p.inputs, step.inputs);
  fill(p.positions, lay_out(step.positions));
  fill(p.cells, step.cells);
  fill(p.mask, step.mask);
  if (p.outputs > 0) fill(p.chosen, step.outputs);
  if (auto status = p.graph->compute(); !status) return status.error();
  if (p.outputs == 0) return std::span<const float>();
  return std::span<const float>(static_cast<const float*>(p.logits->data),
                                static_cast<std::size_t>(ggml_nelements(p.logits)));
}

}  // namespace saccade::engine::models
