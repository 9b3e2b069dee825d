#pragma once
// Whisper weights are checked before whisper.cpp sees them: its loader trusts every size in the
// file. Here each field, name, shape and type is compared with what the header implies, and every
// stretch of data must lie inside the file.
#include <cstdint>
#include <iosfwd>
#include <string>

#include "core/result.h"

namespace saccade::engine {

// The header of a "ggml" Whisper file, in the order of the file.
struct WhisperShape {
  std::int32_t vocabulary = 0;
  std::int32_t audio_context = 0, audio_width = 0, audio_heads = 0, audio_layers = 0;
  std::int32_t text_context = 0, text_width = 0, text_heads = 0, text_layers = 0;
  std::int32_t mels = 0;
  std::int32_t float_type = 0;  // ggml_ftype, with the quantization version in the thousands

  bool english_only() const { return vocabulary == 51864; }
};

// Reads `file` from its start to its end; it must hold exactly `file_bytes`. `name` is for the
// message. Errors: kModelUnusable. Memory: a few kilobytes, whatever the file says.
core::Result<WhisperShape> check_whisper_weights(std::istream& file, std::uint64_t file_bytes,
                                                 const std::string& name);

}  // namespace saccade::engine
