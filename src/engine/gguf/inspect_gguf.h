#pragma once
// Opens a GGUF file and reads its header with the distrust of parse_gguf.h.
#include <string>

#include "core/result.h"
#include "engine/gguf/parse_gguf.h"

namespace saccade::engine::gguf {

struct OpenedHeader {
  Header header;
  std::uint64_t file_bytes = 0;
};

// Reads only the header, growing its buffer as needed up to kHeaderBytesMax. Errors: kModelUnusable
// with path and reason (absent, folder, no permission, empty, broken, entries out of range).
core::Result<OpenedHeader> read_gguf(const std::string& path);

}  // namespace saccade::engine::gguf
