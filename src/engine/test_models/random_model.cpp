#include "engine/test_models/random_model.h"

#include <ggml.h>
#include <gguf.h>

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
  Writer(bool f16, std::uint64_t seed) : f16_(f16), rng_(seed), file_(gguf_init_empty()) {}
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
  void real(const std::string& key, float value) { gguf_set_val_f32(file_, key.c_str(), value); }

  // Weights with the spread of a trained layer: 1 / sqrt(inputs).
  void weight(const std::string& name, std::initializer_list<std::int64_t> shape) {
    const double inputs = static_cast<double>(*shape.begin());
    add(name, shape, f16_ ? GGML_TYPE_F16 : GGML_TYPE_F32, 0, 1 / std::sqrt(inputs));
  }
  void vector(const std::string& name, std::int64_t size, double middle, double spread) {
    add(name, {size}, GGML_TYPE_F32, middle, spread);
  }
  void table(const std::string& name, std::initializer_list<std::int64_t> shape, double spread) {
    add(name, shape, f16_ ? GGML_TYPE_F16 : GGML_TYPE_F32, 0, spread);
  }
  // Always F32: llama.cpp adds it to F32 sums.
  void exact_table(const std::string& name, std::initializer_list<std::int64_t> shape,
                   double spread) {
    add(name, shape, GGML_TYPE_F32, 0, spread);
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
  void add(const std::string& name, std::initializer_list<std::int64_t> shape, ggml_type type,
           double middle, double spread) {
    std::int64_t count = 1;
    for (const auto side : shape) count *= side;
    ggml_init_params params{};
    params.mem_size = ggml_tensor_overhead() + static_cast<std::size_t>(count) * 4 + 256;
    contexts_.push_back(ggml_init(params));
    ggml_tensor* t =
        ggml_new_tensor(contexts_.back(), type, static_cast<int>(shape.size()), std::data(shape));
    ggml_set_name(t, name.c_str());
    for (std::int64_t i = 0; i < count; ++i) {
      // Sum of three uniform numbers: near normal, bounded.
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += static_cast<double>(rng_.between(-10'000, 10'000)) / 10'000;
      const auto value = static_cast<float>(middle + spread * sum);
      if (type == GGML_TYPE_F16) {
        static_cast<ggml_fp16_t*>(t->data)[i] = ggml_fp32_to_fp16(value);
      } else {
        static_cast<float*>(t->data)[i] = value;
      }
    }
    gguf_add_tensor(file_, t);
  }

  bool f16_;
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

}  // namespace

void write_siglip(const std::string& path, const SiglipFile& s) {
  Writer w(s.f16, s.seed);
  gguf_set_val_str(w.file(), "general.architecture", "clip");
  gguf_set_val_str(w.file(), "general.name", "random siglip");
  gguf_set_val_bool(w.file(), "clip.has_vision_encoder", true);
  gguf_set_val_bool(w.file(), "clip.use_gelu", true);
  gguf_set_val_str(w.file(), "clip.projector_type", "idefics3");
  w.number("clip.vision.image_size", s.picture_side);
  w.number("clip.vision.preproc_image_size", s.picture_side * 4);
  w.number("clip.vision.patch_size", s.patch);
  w.number("clip.vision.embedding_length", s.width);
  w.number("clip.vision.feed_forward_length", s.inner);
  w.number("clip.vision.block_count", s.layers);
  w.number("clip.vision.attention.head_count", s.heads);
  w.number("clip.vision.projection_dim", s.out_width);
  w.number("clip.vision.projector.scale_factor", s.merge);
  w.real("clip.vision.attention.layer_norm_epsilon", 1e-6F);
  const float half[3] = {0.5F, 0.5F, 0.5F};
  gguf_set_arr_data(w.file(), "clip.vision.image_mean", GGUF_TYPE_FLOAT32, half, 3);
  gguf_set_arr_data(w.file(), "clip.vision.image_std", GGUF_TYPE_FLOAT32, half, 3);

  const std::int64_t grid = s.picture_side / s.patch;
  w.table("v.patch_embd.weight", {s.patch, s.patch, 3, s.width}, 0.05);
  w.vector("v.patch_embd.bias", s.width, 0, 0.1);
  w.exact_table("v.position_embd.weight", {s.width, grid * grid}, 0.3);
  for (int i = 0; i < s.layers; ++i) {
    const std::string at = "v.blk." + std::to_string(i) + ".";
    for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_out"}) {
      w.weight(at + part + ".weight", {s.width, s.width});
      w.vector(at + part + ".bias", s.width, 0, 0.1);
    }
    w.norm(at + "ln1", s.width, true);
    w.norm(at + "ln2", s.width, true);
    w.weight(at + "ffn_up.weight", {s.width, s.inner});
    w.vector(at + "ffn_up.bias", s.inner, 0, 0.1);
    w.weight(at + "ffn_down.weight", {s.inner, s.width});
    w.vector(at + "ffn_down.bias", s.width, 0, 0.1);
  }
  w.norm("v.post_ln", s.width, true);
  w.weight("mm.model.fc.weight", {std::int64_t{s.width} * s.merge * s.merge, s.out_width});
  w.write(path);
}

void write_decoder(const std::string& path, const DecoderFile& s) {
  Writer w(s.f16, s.seed);
  copy_vocabulary(w.file(), s.vocabulary);
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
      if (a == "qwen2") w.vector(at + name + ".bias", size, 0, 0.3);
    }
    if (a == "qwen3") {
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
