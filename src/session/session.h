#pragma once
// One live stream from its source to its events. A session owns the state of one stream (what was
// kept, which texts are tracked, which speech is open); models are borrowed and may be shared.
// Threads: run() uses the caller's thread for ingest and three of its own (perceive, hear, decode);
// it returns when the source has ended or stop() was called. stop() may come from any thread.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/attend_types.h"
#include "core/clock.h"
#include "core/knobs.h"
#include "core/result.h"
#include "core/rng.h"
#include "emit/emit_types.h"
#include "engine/language_model.h"
#include "engine/speech_model.h"
#include "engine/vision_encoder.h"
#include "ingest/ingest.h"
#include "perceive/hear/detect_voice.h"
#include "perceive/read/read.h"

namespace saccade::session {

// Which senses run. Without `see` no question can be answered.
struct Senses {
  bool see = true, read = true, hear = true;
};

// Whether screen text and speech go into the prompt.
enum class ContextLines { kModelDecides, kOn, kOff };

struct SessionOptions {
  std::string name = "main";  // `stream` in every event
  ingest::SourceOptions source;
  std::optional<ingest::SourceOptions> audio_source;  // sound from elsewhere
  std::vector<attend::StandingPrompt> prompts;        // at most kPromptsMax
  Senses senses;
  ContextLines context_lines = ContextLines::kModelDecides;
  bool partial_speech = true;  // tentative words while somebody speaks
  engine::SamplingOptions sampling;
  std::vector<std::string> stops;
  std::vector<std::string> filter_words;
  core::Knobs knobs;
  core::MediaDuration media_max;  // stop after this much media; 0 = no limit
  // Greatest resident size of the process so far, for the summary; may be empty.
  std::function<std::uint64_t()> peak_memory_bytes;
};

// Borrowed; null = that sense or voice is not there and must not be asked for.
struct SessionModels {
  engine::VisionEncoder* vision = nullptr;
  engine::LanguageModel* language = nullptr;
  perceive::TextReader* reader = nullptr;    // holds the tracks of this stream: not shared
  perceive::VoiceDetector* voice = nullptr;  // holds this stream's sound: not shared
  engine::SpeechModel* speech = nullptr;
};

class Session {
 public:
  // Errors: kUsage (prompts without a model, too many prompts, bad option), and those of
  // ingest::Source::open. `clock` and `sink` must outlive the session.
  static core::Result<std::unique_ptr<Session>> open(SessionOptions options, SessionModels models,
                                                     emit::EventSink& sink,
                                                     const core::Clock& clock, core::Rng rng);
  virtual ~Session() = default;

  // Runs to the end; call once. Errors that end a stream: those of ingest::Source::next. Errors of
  // one answer or one picture are told as events and do not end it.
  virtual core::Status run() = 0;
  virtual void stop() = 0;
  // Newest media time that was taken in; unset before the first frame. Any thread.
  virtual core::MediaTime position() const = 0;
};

}  // namespace saccade::session
