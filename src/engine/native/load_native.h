#pragma once
// Opens a pair of model files on our own graphs.
#include <optional>
#include <string>

#include "engine/checked_files.h"

namespace saccade::engine::native {

// Nothing when a file is of a family or weight type that only llama.cpp serves; `reason` then says
// which. Errors: as load_vision_language.
core::Result<std::optional<VisionLanguage>> load_native(const CheckedFiles& files,
                                                        std::string& reason);

}  // namespace saccade::engine::native
