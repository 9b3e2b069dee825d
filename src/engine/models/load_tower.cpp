#include "engine/models/load_tower.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/models/qwen_tower.h"
#include "engine/models/siglip.h"

namespace saccade::engine::models {
namespace {

struct Known {
  const char* projector;
  core::Result<std::unique_ptr<Tower>> (*load)(std::unique_ptr<gguf::WeightFile>, Device&);
};
constexpr std::array kKnown{Known{"idefics3", Siglip::load},
                            Known{"qwen2vl_merger", QwenTower::load},
                            Known{"qwen2.5vl_merger", QwenTower::load}};

const Known* find(const gguf::WeightFile& file) {
  const std::string projector = file.header().text("clip.projector_type");
  const auto* found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& known) {
    return known.projector == projector;
  });
  return found == kKnown.end() ? nullptr : found;
}

}  // namespace

bool serves_tower(const gguf::WeightFile& file) {
  return find(file) != nullptr && takes_weights(file);
}

core::Result<std::unique_ptr<Tower>> load_tower(std::unique_ptr<gguf::WeightFile> file,
                                                Device& device) {
  const Known* known = find(*file);
  if (known == nullptr) return file->unusable("its projector has no graph of ours");
  return known->load(std::move(file), device);
}

}  // namespace saccade::engine::models
