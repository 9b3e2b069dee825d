#include "engine/models/load_tower.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/models/intern_tower.h"
#include "engine/models/llava_tower.h"
#include "engine/models/qwen_tower.h"
#include "engine/models/siglip.h"

namespace saccade::engine::models {
namespace {

bool any(const gguf::WeightFile&) { return true; }

struct Known {
  const char* projector;
  bool (*serves)(const gguf::WeightFile&);
  core::Result<std::unique_ptr<Tower>> (*load)(std::unique_ptr<gguf::WeightFile>, Device&);
};
constexpr std::array kKnown{Known{"idefics3", any, Siglip::load},
                            Known{"internvl", InternTower::serves, InternTower::load},
                            Known{"mlp", LlavaTower::serves, LlavaTower::load},
                            Known{"qwen2vl_merger", any, QwenTower::load},
                            Known{"qwen2.5vl_merger", any, QwenTower::load},
                            Known{"qwen3vl_merger", any, QwenTower::load}};

const Known* find(const gguf::WeightFile& file) {
  const std::string projector = file.header().text("clip.projector_type");
  const auto* found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& known) {
    return known.projector == projector;
  });
  return found == kKnown.end() ? nullptr : found;
}

}  // namespace

bool serves_tower(const gguf::WeightFile& file) {
  const Known* known = find(file);
  return known != nullptr && known->serves(file) && takes_weights(file);
}

core::Result<std::unique_ptr<Tower>> load_tower(std::unique_ptr<gguf::WeightFile> file,
                                                Device& device) {
  const Known* known = find(*file);
  if (known == nullptr) return file->unusable("its projector has no graph of ours");
  return known->load(std::move(file), device);
}

}  // namespace saccade::engine::models
