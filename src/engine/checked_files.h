#pragma once
// What loaders get: the user's wishes and the headers of both files, read and checked once.
#include <optional>
#include <string>

#include "engine/gguf/inspect_gguf.h"
#include "engine/load.h"

namespace saccade::engine {

struct CheckedFiles {
  const LoadOptions& options;
  gguf::OpenedHeader text;
  std::optional<gguf::OpenedHeader> mmproj;      // present when the options name one
  int language_threads = 1, vision_threads = 1;  // chosen
};

// kModelUnusable: the projector is not the text model's.
core::Error foreign_mmproj(const CheckedFiles& files, const std::string& why);

}  // namespace saccade::engine
