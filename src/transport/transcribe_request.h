#pragma once
// POST /v1/audio/transcriptions: the form read into typed values, and the transcript in the formats
// OpenAI names. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace saccade::transport {

struct TranscribeRequest {
  enum class Format { kJson, kText, kSrt, kVtt, kVerboseJson };
  Format format = Format::kJson;
  bool words = false;     // verbose_json: word times too
  bool segments = true;   // verbose_json
  std::string_view file;  // inside the body
};

// Errors: kUsage, kUnsupported; `fault` then says which field.
core::Result<TranscribeRequest> parse_transcribe_request(std::string_view content_type,
                                                         std::string_view body, std::string& fault);

}  // namespace saccade::transport
