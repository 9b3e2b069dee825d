#include "engine/test_models/random_model.h"

#include <ggml.h>
#include <gguf.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/rng.h"

namespace saccade::engine::test {
namespace {

// Collects entries and tensors, then writes them.
class Writer {
 public:
  Writer(Weights weights, std::uint64_t seed)
      : weights_(weights), rng_(seed), file_(gguf_init_empty()) {}
  ~Writer() {
    gguf_free(file_);
    for (ggml_context* c : contexts_) ggml_free(c);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  gguf_context* file() { return file_; }
  void number(const std::string& key, int value) {
    gguf_set_val_u32(file_, key.c_str(), static_cast<std::uint32_t>(value));
  }
  void text(const std::string& key, const std::string& value) {
    gguf_set_val_str(file_, key.c_str(), value.c_str());
  }
  void flag(const std::string& key) { gguf_set_val_bool(file_, key.c_str(), true); }
  void reals(const std::string& key, const std::vector<float>& values) {
    gguf_set_arr_data(file_, key.c_str(), GGUF_TYPE_FLOAT32, values.data(), values.size());
  }
  void whole(const std::string& key, const std::vector<std::int32_t>& values) {
    gguf_set_arr_data(file_, key.c_str(), GGUF_TYPE_INT32, values.data(), values.size());
  }
  void real(const std::string& key, float value) { gguf_set_val_f32(file_, key.c_str(), value); }

  // Weights with the spread of a trained layer: 1 / sqrt(inputs).
  void weight(const std::string& name, std::initializer_list<std::int64_t> shape) {
    const double inputs = static_cast<double>(*shape.begin());
    constexpr ggml_type kTypes[] = {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q8_0, GGML_TYPE_Q4_K};
    add(name, shape, kTypes[static_cast<int>(weights_)], 0, 1 / std::sqrt(inputs));
  }
  void vector(const std::string& name, std::int64_t size, double middle, double spread) {
    add(name, {size}, GGML_TYPE_F32, middle, spread);
  }
  void table(const std::string& name, std::initializer_list<std::int64_t> shape, double spread) {
    add(name, shape, weights_ == Weights::kF32 ? GGML_TYPE_F32 : GGML_TYPE_F16, 0, spread);
  }
  // Always F32: llama.cpp adds it to F32 sums. The first row may be put behind the others.
  void exact_table(const std::string& name, std::initializer_list<std::int64_t> shape,
                   double spread, bool first_last) {
    ggml_tensor* t = add(name, shape, GGML_TYPE_F32, 0, spread);
    auto* values = static_cast<float*>(t->data);
    if (first_last) std::rotate(values, values + t->ne[0], values + ggml_nelements(t));
  }
  void linear(const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    weight(name + ".weight", {inputs, outputs});
    vector(name + ".bias", outputs, 0, 0.1);
  }
  void norm(const std::string& name, int width, bool shift) {
    vector(name + ".weight", width, 1, 0.1);
    if (shift) vector(name + ".bias", width, 0, 0.1);
  }

  void write(const std::string& path) {
    if (!gguf_write_to_file(file_, path.c_str(), false)) {
      throw std::runtime_error(path + " cannot be written");
    }
  }

 private:
  ggml_tensor* add(const std::string& name, std::initializer_list<std::int64_t> shape,
                   ggml_type type, double middle, double spread) {
    std::int64_t count = 1;
    for (const auto side : shape) count *= side;
    ggml_init_params params{};
    params.mem_size = ggml_tensor_overhead() + static_cast<std::size_t>(count) * 4 + 256;
    contexts_.push_back(ggml_init(params));
    ggml_tensor* t =
        ggml_new_tensor(contexts_.back(), type, static_cast<int>(shape.size()), std::data(shape));
    ggml_set_name(t, name.c_str());
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
      // Sum of three uniform numbers: near normal, bounded.
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += static_cast<double>(rng_.between(-10'000, 10'000)) / 10'000;
      value = static_cast<float>(middle + spread * sum);
    }
    ggml_quantize_chunk(type, values.data(), t->data, 0, count / t->ne[0], t->ne[0], nullptr);
    gguf_add_tensor(file_, t);
    return t;
  }

  Weights weights_;
  core::Rng rng_;
  gguf_context* file_;
  std::vector<ggml_context*> contexts_;
};

void copy_vocabulary(gguf_context* to, const std::string& path) {
  gguf_init_params params{};
  params.no_alloc = true;
  gguf_context* from = gguf_init_from_file(path.c_str(), params);
  if (from == nullptr) throw std::runtime_error(path + " cannot be read");
  const std::unique_ptr<gguf_context, decltype(&gguf_free)> keep(from, gguf_free);
  // gguf_set_kv copies all; what is not the tokenizer's is removed again.
  gguf_set_kv(to, from);
  std::vector<std::string> others;
  for (std::int64_t i = 0; i < gguf_get_n_kv(to); ++i) {
    const std::string key = gguf_get_key(to, i);
    if (!key.starts_with("tokenizer.")) others.push_back(key);
  }
  for (const auto& key : others) gguf_remove_key(to, key.c_str());
}

// Appends control tokens to the vocabulary.
void add_controls(Writer& w, const std::vector<std::string>& controls) {
  constexpr std::int32_t kControl = 3;
  gguf_context* file = w.file();
  const auto tokens = gguf_find_key(file, "tokenizer.ggml.tokens");
  const auto types = gguf_find_key(file, "tokenizer.ggml.token_type");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < gguf_get_arr_n(file, tokens); ++i) {
    texts.emplace_back(gguf_get_arr_str(file, tokens, i));
  }
  const auto* data = static_cast<const std::int32_t*>(gguf_get_arr_data(file, types));
  std::vector<std::int32_t> kinds(data, data + gguf_get_arr_n(file, types));
  texts.insert(texts.end(), controls.begin(), controls.end());
  kinds.resize(texts.size(), kControl);
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const auto& text : texts) pointers.push_back(text.c_str());
  gguf_set_arr_str(file, "tokenizer.ggml.tokens", pointers.data(), pointers.size());
  w.whole("tokenizer.ggml.token_type", kinds);
}

constexpr const char* kDeep = "qwen3vl_merger";              // two of its layers are handed on
constexpr const char* kRootMeanSquare = "qwen2.5vl_merger";  // its norms have no shift

void write_tower_entries(Writer& w, const TowerFile& s) {
  w.text("general.architecture", "clip");
  w.text("general.name", "random " + s.projector);
  w.flag("clip.has_vision_encoder");
  w.text("clip.projector_type", s.projector);
  w.number("clip.vision.image_size", s.picture_side);
  w.number("clip.vision.patch_size", s.patch);
  w.number("clip.vision.embedding_length", s.width);
  w.number("clip.vision.feed_forward_length", s.inner);
  w.number("clip.vision.block_count", s.layers);
  w.number("clip.vision.attention.head_count", s.heads);
  w.number("clip.vision.projection_dim", s.out_width);
  w.real("clip.vision.attention.layer_norm_epsilon", 1e-6F);
  w.reals("clip.vision.image_mean", {0.5F, 0.5F, 0.5F});
  w.reals("clip.vision.image_std", {0.5F, 0.5F, 0.5F});
  if (s.projector == "idefics3") {
    w.flag("clip.use_gelu");
    w.number("clip.vision.preproc_image_size", s.picture_side * 4);
    w.number("clip.vision.projector.scale_factor", s.merge);
  } else if (s.projector == "internvl") {
    w.flag("clip.use_gelu");
    w.number("clip.vision.projector.scale_factor", s.merge);
    w.number("clip.vision.preproc_min_tiles", 1);
    w.number("clip.vision.preproc_max_tiles", 4);
  } else if (s.projector == kDeep) {
    w.flag("clip.use_gelu");
  } else if (s.projector == "mlp") {
    w.whole("clip.vision.feature_layer", {s.layers - 1});
  } else if (s.projector == kRootMeanSquare) {
    w.flag("clip.use_silu");
    w.number("clip.vision.n_wa_pattern", 2);
  }
}

// Patches and positions of towers with pictures of one size.
void write_square_input(Writer& w, const TowerFile& s) {
  const std::int64_t grid = s.picture_side / s.patch;
  w.table("v.patch_embd.weight", {s.patch, s.patch, 3, s.width}, 0.05);
  if (s.class_token) w.vector("v.class_embd", s.width, 0, 0.3);
  if (s.projector != "mlp" || !s.class_token) w.vector("v.patch_embd.bias", s.width, 0, 0.1);
  w.exact_table("v.position_embd.weight", {s.width, grid * grid + (s.class_token ? 1 : 0)}, 0.3,
                s.class_last);
}

void write_layers(Writer& w, const TowerFile& s) {
  const bool gated = s.projector == kRootMeanSquare;
  for (int i = 0; i < s.layers; ++i) {
    const std::string at = "v.blk." + std::to_string(i) + ".";
    if (s.projector == kDeep) {
      w.linear(at + "attn_qkv", s.width, std::int64_t{3} * s.width);
    } else {
      for (const char* part : {"attn_q", "attn_k", "attn_v"}) {
        w.linear(at + part, s.width, s.width);
      }
    }
    w.linear(at + "attn_out", s.width, s.width);
    w.norm(at + "ln1", s.width, !gated);
    w.norm(at + "ln2", s.width, !gated);
    if (gated) w.linear(at + "ffn_gate", s.width, s.inner);
    // Early files have the two names the wrong way round.
    const bool early = s.projector == "mlp" && s.class_token;
    w.linear(at + (early ? "ffn_down" : "ffn_up"), s.width, s.inner);
    w.linear(at + (early ? "ffn_up" : "ffn_down"), s.inner, s.width);
    if (s.projector != "internvl") continue;
    w.vector(at + "ls1.weight", s.width, 0.8, 0.1);
    w.vector(at + "ls2.weight", s.width, 0.8, 0.1);
  }
}

void write_projector(Writer& w, const TowerFile& s) {
  const std::int64_t merged = std::int64_t{s.width} * s.merge * s.merge;
  if (s.projector == "idefics3") {
    w.weight("mm.model.fc.weight", {merged, s.out_width});
  } else if (s.projector == "internvl") {
    w.norm("mm.model.mlp.0", static_cast<int>(merged), true);
    w.linear("mm.model.mlp.1", merged, s.inner);
    w.linear("mm.model.mlp.3", s.inner, s.out_width);
  } else {
    const std::int64_t inputs = s.projector == "mlp" ? s.width : merged;
    w.linear("mm.0", inputs, inputs);
    w.linear("mm.2", inputs, s.out_width);
  }
  if (s.projector != kDeep) return;
  for (const int layer : {0, 2}) {
    const std::string at = "v.deepstack." + std::to_string(layer) + ".";
    w.norm(at + "norm", static_cast<int>(merged), true);
    w.linear(at + "fc1", merged, merged);
    w.linear(at + "fc2", merged, s.out_width);
  }
}

}  // namespace

void write_tower(const std::string& path, const TowerFile& s) {
  Writer w(s.weights, s.seed);
  write_tower_entries(w, s);
  if (s.projector.starts_with("qwen")) {
    if (s.projector == kDeep) {
      const std::int64_t grid = s.picture_side / s.patch;
      w.vector("v.patch_embd.bias", s.width, 0, 0.1);
      w.exact_table("v.position_embd.weight", {s.width, grid * grid}, 0.3, false);
    }
    w.table("v.patch_embd.weight", {s.patch, s.patch, 3, s.width}, 0.05);
    w.table("v.patch_embd.weight.1", {s.patch, s.patch, 3, s.width}, 0.05);
  } else {
    write_square_input(w, s);
  }
  if (s.projector == "mlp" && s.class_token) w.norm("v.pre_ln", s.width, true);
  write_layers(w, s);
  if (s.projector != "mlp" && s.projector != "internvl") {
    w.norm("v.post_ln", s.width, s.projector != kRootMeanSquare);
  }
  write_projector(w, s);
  w.write(path);
}

void write_decoder(const std::string& path, const DecoderFile& s) {
  Writer w(s.f16 ? Weights::kF16 : Weights::kF32, s.seed);
  copy_vocabulary(w.file(), s.vocabulary);
  add_controls(w, s.controls);
  const auto tokens = gguf_find_key(w.file(), "tokenizer.ggml.tokens");
  const auto vocabulary = static_cast<std::int64_t>(gguf_get_arr_n(w.file(), tokens));
  const std::string a = s.architecture;
  gguf_set_val_str(w.file(), "general.architecture", a.c_str());
  gguf_set_val_str(w.file(), "general.name", ("random " + a).c_str());
  w.number(a + ".context_length", s.context);
  w.number(a + ".embedding_length", s.width);
  w.number(a + ".block_count", s.layers);
  w.number(a + ".feed_forward_length", s.inner);
  w.number(a + ".attention.head_count", s.heads);
  w.number(a + ".attention.head_count_kv", s.heads_kv);
  w.number(a + ".attention.key_length", s.head_size);
  w.number(a + ".attention.value_length", s.head_size);
  w.number(a + ".rope.dimension_count", s.head_size);
  w.number(a + ".vocab_size", static_cast<int>(vocabulary));
  w.real(a + ".attention.layer_norm_rms_epsilon", 1e-5F);
  w.real(a + ".rope.freq_base", 10'000.0F);

  if (s.deep > 0) w.number(a + ".n_deepstack_layers", s.deep);
  if (a.ends_with("vl")) {
    // As published: a quarter of the pairs for time, the rest for height and width alike.
    const int pairs = s.head_size / 2, time = pairs / 4;
    w.whole(a + ".rope.dimension_sections",
            {time, (pairs - time) / 2, pairs - time - (pairs - time) / 2, 0});
  }

  const std::int64_t query = std::int64_t{s.heads} * s.head_size;
  const std::int64_t key = std::int64_t{s.heads_kv} * s.head_size;
  w.table("token_embd.weight", {s.width, vocabulary}, 0.5);
  for (int i = 0; i < s.layers; ++i) {
    const std::string at = "blk." + std::to_string(i) + ".";
    w.norm(at + "attn_norm", s.width, false);
    w.norm(at + "ffn_norm", s.width, false);
    const std::pair<const char*, std::int64_t> parts[] = {
        {"attn_q", query}, {"attn_k", key}, {"attn_v", key}};
    for (const auto& [name, size] : parts) {
      w.weight(at + name + ".weight", {s.width, size});
      if (a.starts_with("qwen2")) w.vector(at + name + ".bias", size, 0, 0.3);
    }
    if (a.starts_with("qwen3")) {
      w.norm(at + "attn_q_norm", s.head_size, false);
      w.norm(at + "attn_k_norm", s.head_size, false);
    }
    w.weight(at + "attn_output.weight", {query, s.width});
    w.weight(at + "ffn_gate.weight", {s.width, s.inner});
    w.weight(at + "ffn_up.weight", {s.width, s.inner});
    w.weight(at + "ffn_down.weight", {s.inner, s.width});
  }
  w.norm("output_norm", s.width, false);
  if (!s.tied) w.table("output.weight", {s.width, vocabulary}, 0.5);
  w.write(path);
}

}  // namespace saccade::engine::test
