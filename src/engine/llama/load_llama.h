#pragma once
// Opens a pair of model files with llama.cpp and mtmd: every family that they load.
#include "engine/checked_files.h"

namespace saccade::engine::llama {

// Errors: as load_vision_language.
core::Result<VisionLanguage> load_llama(const CheckedFiles& files);

}  // namespace saccade::engine::llama
