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
#include "ingest/from_push.h"
#include "ingest/ingest.h"
#include "perceive/hear/detect_voice.h"
#include "perceive/read/read.h"
#include "session/shown_picture.h"

namespace saccade::governor {
class Governor;
class PolicyBook;
}  // namespace saccade::governor

namespace saccade::session {

class Device;
struct QuestionOptions;

// How a stream at the clock's pace is governed; other streams are not. Names and what they mean:
// governor/policy.h.
struct Governing {
  std::string policy = "auto";  // auto = "captions" with a deadline, else "none"
  int slo_ms = 0;               // an answer may be this old, 1..600'000; 0 = the policy's
  // The policies of a session that has the device to itself; null = the built-in ones.
  std::shared_ptr<const governor::PolicyBook> book = {};
};
struct QuestionContext;

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
  bool askable = false;        // prompts may come later: steer and ask
  engine::SamplingOptions sampling;
  std::vector<std::string> stops;
  std::vector<std::string> filter_words;
  core::Knobs knobs;
  Governing governing;
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
  // Set when others answer with the same `language`: whose turn it is (device.h).
  Device* device = nullptr;
  // Of the device that these models run on; null = the session has the device to itself.
  governor::Governor* governor = nullptr;
  // Whose questions these are: what was read for another owner is never reused, not even to save
  // time, since the time would tell what the other one had asked.
  std::string owner = {};
  int view_tokens = 0;  // of a picture's global view; 0 = depends on the picture
};

// What may be changed while a session runs; unset = as it is.
struct Steering {
  std::optional<std::vector<attend::StandingPrompt>> prompts = {};
  std::optional<core::Knobs> knobs = {};
  std::optional<Governing> governing = {};
};

class Session {
 public:
  // Errors: kUsage (prompts without a model, too many prompts, bad option), kExhausted (the
  // governor refuses another stream), and those of ingest::Source::open. `clock` and `sink` must
  // outlive the session.
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
  // Newest picture that was looked at, small; null before the first. Only of a session that is
  // `askable`. Any thread.
  virtual ShownPicturePtr shown() const = 0;

  // In force from the next picture on. Any thread. Errors: kUsage, kExhausted (prompts),
  // kUnsupported (prompts for a session that answers no questions, a policy for a source that waits
  // for its answers).
  virtual core::Status steer(Steering steering) = 0;
  // A question about the newest picture, answered on the caller's thread with `models`,
  // beside the standing prompts; `options.turns` holds one turn of one text. Errors: as
  // answer_question, and kUnsupported (no picture yet).
  virtual core::Status ask(const QuestionOptions& options, const SessionModels& models,
                           const QuestionContext& context) = 0;
};

}  // namespace saccade::session
