#pragma once
// For tests: a session of our own decoder on one text model file.
#include <memory>
#include <string>

#include "engine/language_model.h"

namespace saccade::engine::test {

struct NativeText {
  int context = 512, cells = 1024;
};
// Throws when the file cannot be loaded.
std::unique_ptr<LanguageModel> load_native_text(const std::string& path, NativeText options = {});

}  // namespace saccade::engine::test
