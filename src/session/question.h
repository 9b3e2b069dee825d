#pragma once
// A one-off question about files: the same way as a stream, with sources that end. Every medium is
// taken in, perceived, and shown to the model in the order given; there is one answer.
// Threads: the caller's.
#include <atomic>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/rng.h"
#include "emit/emit_types.h"
#include "session/session.h"

namespace saccade::session {

struct QuestionOptions {
  std::vector<ingest::SourceOptions> media;  // 1..kAskMediaMax
  std::string text;
  // Of one recording, spread over its length by the sampling rate; later ones are not looked at.
  int pictures_max = 8;
  Senses senses{.see = true, .read = false, .hear = false};
  engine::SamplingOptions sampling;
  std::vector<std::string> stops;
  std::vector<std::string> filter_words;
  core::Knobs knobs;
  const std::atomic<bool>* stop = nullptr;  // ends the question with kCancelled; may be null
};

// One `answer` event goes to `sink`. Errors: those of Source::open and next, of the encoder, and of
// the model (kExhausted when media and question do not fit its context).
core::Status answer_question(const QuestionOptions& options, const SessionModels& models,
                             emit::EventSink& sink, const core::Clock& clock, core::Rng rng);

}  // namespace saccade::session
