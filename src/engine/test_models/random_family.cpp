#include "engine/test_models/random_family.h"

#include <algorithm>
#include <stdexcept>

namespace saccade::engine::test {
namespace {

constexpr const char* kVocabulary = "models/mini/saccade-mini-text-f16.gguf";
constexpr int kWidth = 256;  // of towers: whole rows for every kind of weights

struct Family {
  std::string name, projector, architecture;
  int picture_side, patch, merge;
  bool class_token;
  std::vector<std::string> controls;
};

const std::vector<Family>& families() {
  static const std::vector<std::string> kQwen{"<|vision_start|>", "<|vision_end|>"};
  static const std::vector<Family> kAll{
      {"smolvlm", "idefics3", "llama", 64, 16, 2, false, {}},
      {"qwen2vl", "qwen2vl_merger", "qwen2vl", 560, 14, 2, false, kQwen},
      {"qwen2.5vl", "qwen2.5vl_merger", "qwen2vl", 560, 14, 2, false, kQwen},
      {"qwen3vl", "qwen3vl_merger", "qwen3vl", 128, 16, 2, false, kQwen},
      {"llava", "mlp", "llama", 112, 14, 1, true, {}},
      {"llava-siglip", "mlp", "llama", 112, 14, 1, false, {}},
      {"internvl", "internvl", "qwen2", 112, 14, 2, true, {"<img>", "</img>"}},
  };
  return kAll;
}

}  // namespace

std::vector<std::string> family_names() {
  std::vector<std::string> out;
  for (const auto& family : families()) out.push_back(family.name);
  return out;
}

void write_family(const std::string& folder, const std::string& name, Weights weights,
                  bool class_last) {
  const auto found = std::find_if(families().begin(), families().end(),
                                  [&](const Family& family) { return family.name == name; });
  if (found == families().end()) throw std::runtime_error("no family is called " + name);
  DecoderFile text;
  text.architecture = found->architecture;
  text.context = 4096;
  text.vocabulary = kVocabulary;
  text.controls = found->controls;
  if (name == "qwen3vl") {
    text.deep = 2;
    text.layers = 4;
  }
  write_decoder(folder + "/model.gguf", text);
  TowerFile tower;
  tower.projector = found->projector;
  tower.picture_side = found->picture_side;
  tower.patch = found->patch;
  tower.merge = found->merge;
  tower.width = kWidth;
  tower.inner = 2 * kWidth;
  tower.layers = 4;
  tower.out_width = text.width;
  tower.weights = weights;
  tower.class_token = found->class_token;
  tower.class_last = class_last;
  write_tower(folder + "/mmproj.gguf", tower);
}

}  // namespace saccade::engine::test
