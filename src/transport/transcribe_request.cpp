#include "transport/transcribe_request.h"

#include <array>
#include <utility>

#include "transport/read_multipart.h"

namespace saccade::transport {
namespace {

using Format = TranscribeRequest::Format;

constexpr std::array<std::pair<std::string_view, Format>, 5> kFormats = {{
    {"json", Format::kJson},
    {"text", Format::kText},
    {"srt", Format::kSrt},
    {"vtt", Format::kVtt},
    {"verbose_json", Format::kVerboseJson},
}};

core::Error usage(const std::string& what, const std::string& hint = {}) {
  return core::error(core::ErrorCode::kUsage, what, hint);
}

core::Status read_format(std::string_view value, TranscribeRequest& request) {
  for (const auto& [name, format] : kFormats) {
    if (name != value) continue;
    request.format = format;
    return {};
  }
  const bool known = value == "diarized_json";
  return core::error(known ? core::ErrorCode::kUnsupported : core::ErrorCode::kUsage,
                     known
                         ? "response_format diarized_json is not supported: speakers are not told "
                           "apart"
                         : "response_format is none of json, text, srt, vtt, verbose_json");
}

core::Status read_field(const FormPart& part, TranscribeRequest& request) {
  if (part.name == "file") {
    request.file = part.data;
    return part.data.empty() ? core::Status(usage("file is empty (0 bytes)")) : core::Status();
  }
  if (part.name == "response_format") return read_format(part.data, request);
  if (part.name == "stream" && part.data == "true") {
    return core::error(core::ErrorCode::kUnsupported, "stream is not supported",
                       "leave it out, or watch the recording as a live stream");
  }
  if (part.name == "language" && part.data != "en" && !part.data.empty()) {
    return core::error(core::ErrorCode::kUnsupported,
                       "language: the bundled speech model hears English only", "send en");
  }
  if (part.name == "timestamp_granularities[]" || part.name == "timestamp_granularities") {
    if (part.data == "word") {
      request.words = true;
    } else if (part.data != "segment") {
      return usage("timestamp_granularities holds something else than word and segment");
    }
  }
  return {};
}

}  // namespace

core::Result<TranscribeRequest> parse_transcribe_request(std::string_view content_type,
                                                         std::string_view body,
                                                         std::string& fault) {
  const auto parts = read_multipart(content_type, body);
  if (!parts) return parts.error();
  TranscribeRequest request;
  for (const FormPart& part : *parts) {
    const core::Status status = read_field(part, request);
    if (status) continue;
    fault = part.name;
    return status.error();
  }
  if (request.file.data() != nullptr) return request;
  fault = "file";
  return usage("file is missing", "send it as the form field `file`");
}

}  // namespace saccade::transport
