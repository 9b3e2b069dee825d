#pragma once
// For tests and benchmarks: model files of published architectures with random weights of a seeded
// generator, structurally exact, so parity and speed need no download. The vocabulary is copied
// from a real text model.
#include <cstdint>
#include <string>
#include <vector>

namespace saccade::engine::test {

// How matrices are stored. Q8_0 needs rows of whole 32, Q4_K of whole 256 numbers.
enum class Weights { kF32, kF16, kQ8, kQ4 };

struct TowerFile {
  std::string projector = "idefics3";  // internvl, mlp, qwen{2,2.5,3}vl_merger
  int picture_side = 64, patch = 16, width = 64, layers = 2, heads = 4, inner = 128, merge = 2;
  int out_width = 64;
  Weights weights = Weights::kF16;
  std::uint64_t seed = 1;
  bool class_token = false;
  // The class token's position stands behind those of the patches instead of before them: with such
  // a file libmtmd computes what it should with a published one.
  bool class_last = false;
};
// Writes an mmproj. SmolVLM-256M's own shape: 512, 16, 768, 12, 12, 3072, 4, 576.
void write_tower(const std::string& path, const TowerFile& shape);

struct DecoderFile {
  std::string architecture = "llama";  // llama, qwen2, qwen2vl, qwen3, qwen3vl
  int width = 64, layers = 2, heads = 4, heads_kv = 2, head_size = 16, inner = 128;
  int context = 512;
  bool f16 = true, tied = true;
  std::uint64_t seed = 1;
  std::string vocabulary;             // GGUF file whose tokenizer entries are copied
  int deep = 0;                       // layers of qwen3vl that take a part of a visual token
  std::vector<std::string> controls;  // control tokens added to it
};
void write_decoder(const std::string& path, const DecoderFile& shape);

}  // namespace saccade::engine::test
