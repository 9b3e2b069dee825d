#pragma once
// The Llama family of decoders on our own graph: Llama and SmolLM, Qwen2 (biases), Qwen2-VL and
// Qwen2.5-VL (positions on three axes), Qwen3 (norms on query and key), Qwen3-VL (both). One step
// runs tokens of any sequences together; what each token sees is decided by the caller's mask over
// cells. Source: Touvron et al., "Llama", 2023; Yang et al., "Qwen2 technical report", 2024; rotary
// positions of Su et al., 2021; M-RoPE of Wang et al., "Qwen2-VL", 2024. Tensor names and keys as
// llama.cpp publishes them. Threads: the device's owner.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/blocks/graph.h"
#include "engine/position.h"

struct ggml_backend_buffer;

namespace saccade::engine::models {

struct DecoderShape {
  std::string architecture;
  int width = 0, layers = 0, heads = 0, heads_kv = 0, head_size = 0, inner = 0, vocabulary = 0;
  int rotated = 0;      // of a head's elements
  bool halves = false;  // rotation pairs element i with i + rotated / 2 (NeoX), else neighbours
  // M-RoPE: how many of the rotated pairs follow t, h and w, in this order; all 0 = one axis.
  std::array<int, 3> sections{};
  bool woven = false;  // the axes take turns among the pairs, else each has its own stretch
  int deep = 0;        // layers behind which a part of a visual token's input is added (DeepStack)
  float epsilon = 0, rope_base = 10'000;

  // Of one token's input: what the first layer reads and a part for each deep layer.
  int input_width() const { return width * (1 + deep); }
  bool axes() const { return sections[0] + sections[1] + sections[2] > 0; }
};

// What one step computes. All arrays are per token.
struct Step {
  std::vector<float> inputs;  // [tokens][input_width]: of text (deep parts zero) or visual tokens
  std::vector<Position> positions;
  std::vector<std::int32_t> cells;    // where keys and values go
  std::vector<std::uint16_t> mask;    // F16 [tokens][span]: added to scores
  int span = 0;                       // cells read, from 0; a multiple of kSpanStep
  std::vector<std::int32_t> outputs;  // tokens whose logits are wanted
  int tokens() const { return static_cast<int>(positions.size()); }
};

class Decoder {
 public:
  static constexpr int kSpanStep = 64;
  static constexpr int kStepTokensMax = 512;

  // Architectures with a graph here and weights of kinds that it takes.
  static bool serves(const gguf::WeightFile& file);
  // Errors: kModelUnusable, kExhausted (memory for `cells`).
  static core::Result<std::unique_ptr<Decoder>> load(std::unique_ptr<gguf::WeightFile> file,
                                                     Device& device, int cells);
  ~Decoder();

  const DecoderShape& shape() const { return shape_; }
  int cells() const { return cells_; }

  // Writes the embedding of a text token to out [width]. `id` must be inside the vocabulary.
  void embed(std::int32_t id, float* out) const;
  // Logits F32 [outputs][vocabulary] in the decoder's own memory, valid until the next step.
  core::Result<std::span<const float>> run(const Step& step);

 private:
  struct Layer {
    Norm before_attention, before_feed, query_norm, key_norm;
    Linear qkv, query, key, value;  // either the joined product or three
    Linear out, gate_up, gate, up, down;
    ggml_tensor *keys = nullptr, *values = nullptr;  // F16 [kv width, cells]
  };
  // A graph fits one number of tokens, outputs and one span.
  struct Planned {
    int tokens = 0, outputs = 0, span = 0;
    std::unique_ptr<Graph> graph;
    ggml_tensor *inputs = nullptr, *positions = nullptr, *cells = nullptr, *mask = nullptr;
    ggml_tensor *chosen = nullptr, *logits = nullptr;
    bool fits(const Step& step) const;
  };
  struct Projected {
    ggml_tensor *query, *key, *value;
  };

  Decoder(std::unique_ptr<gguf::WeightFile> file, Device& device, int cells)
      : file_(std::move(file)), device_(device), cells_(cells) {}
  core::Status read_shape();
  core::Status read_rotation();
  core::Status load_weights();
  core::Status load_attention(Layer& layer, int index);
  core::Status load_feed(Layer& layer, int index);
  core::Status make_cells();
  core::Result<Planned*> plan(const Step& step);
  void build(Planned& planned);
  ggml_tensor* rotate(const Planned& planned, ggml_tensor* heads) const;
  std::vector<std::int32_t> lay_out(const std::vector<Position>& positions) const;
  Projected project(Planned& planned, const Layer& layer, ggml_tensor* x);
  ggml_tensor* attend(Planned& planned, const Layer& layer, const Projected& projected);
  ggml_tensor* feed(Graph& graph, const Layer& layer, ggml_tensor* x);

  struct Deleter {
    void operator()(ggml_backend_buffer* buffer) const;
  };
  std::unique_ptr<gguf::WeightFile> file_;
  Device& device_;
  const int cells_;
  DecoderShape shape_;
  std::vector<Layer> layers_;
  Norm last_;
  ggml_tensor *embeddings_ = nullptr, *head_ = nullptr, *frequencies_ = nullptr;
  std::unique_ptr<ggml_context, DeviceDeleter> memory_context_;
  std::unique_ptr<ggml_backend_buffer, Deleter> memory_;
  std::vector<Planned> planned_;  // newest first
};

}  // namespace saccade::engine::models
