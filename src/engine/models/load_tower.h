#pragma once
// Which architecture a vision file holds.
#include <memory>

#include "engine/models/tower.h"

namespace saccade::engine::models {

// There is a graph here for its projector, and for the kinds of its weights.
bool serves_tower(const gguf::WeightFile& file);
// `file` must be served. Errors: kModelUnusable with the tensor or key that is wrong.
core::Result<std::unique_ptr<Tower>> load_tower(std::unique_ptr<gguf::WeightFile> file,
                                                Device& device);

}  // namespace saccade::engine::models
