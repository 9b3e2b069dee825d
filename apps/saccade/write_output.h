#pragma once
// `--out FILE`: events as .jsonl, or subtitles as .vtt or .srt. The file appears under its name
// only when the run has ended well and everything is written; an older file stays until then.
// Threads: as EventSink; finish() after the last event.
#include <memory>
#include <string>

#include "core/result.h"
#include "emit/emit_types.h"

namespace saccade::app {

class OutputFile : public emit::EventSink {
 public:
  // Errors: kUsage (other ending, folder missing or not writable).
  static core::Result<std::unique_ptr<OutputFile>> create(const std::string& path);
  // Without finish() nothing is left behind.
  ~OutputFile() override = default;

  // Errors: kExhausted (disk full; more cues than a subtitle file may hold).
  virtual core::Status finish() = 0;
};

}  // namespace saccade::app
