#pragma once
// One recording to its words: a session with the sense of hearing only, run to its end.
// Threads: the caller's, and those of the session.
#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/rng.h"
#include "emit/emit_types.h"
#include "session/session.h"

namespace saccade::session {

struct Transcript {
  struct Segment {
    std::string text;
    double start = 0, end = 0;  // seconds of media
    double confidence = 0;      // 0..1
    std::vector<emit::EventWord> words;
  };
  std::vector<Segment> segments;  // in order, not overlapping
  double duration = 0;            // seconds; 0 = the file does not say

  std::string text() const;  // segments joined by spaces
  std::string vtt() const;
  std::string srt() const;
};

struct TranscribeOptions {
  ingest::SourceOptions source;
  // Called with the session before it runs, and with null before it dies: whoever wants to stop it
  // may hold on to it between. May be empty.
  std::function<void(Session*)> on_session;
};

// Errors: those of Session::open and run. A stopped session gives what it had.
core::Result<Transcript> transcribe(const TranscribeOptions& options, const SessionModels& models,
                                    const core::Clock& clock, core::Rng rng);

}  // namespace saccade::session
