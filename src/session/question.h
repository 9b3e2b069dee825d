#pragma once
// A one-off question about files: the same way as a stream, with sources that end. Every medium is
// taken in, perceived, and shown to the model where it stands in the conversation.
// Threads: the caller's.
#include <atomic>
#include <string>
#include <variant>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/rng.h"
#include "decode/decode_types.h"
#include "emit/emit_types.h"
#include "session/session.h"

namespace saccade::session {

inline constexpr int kAnswersMax = 8;

// A picture or recording inside a question.
struct Medium {
  ingest::SourceOptions source;
  int pictures_max = 8;  // of a recording; the first ones at the source's rate
  // The source may be opened twice: pictures then spread over its length when that is known.
  bool spread = false;
  Senses senses{.see = true, .read = false, .hear = false};
};
// Texts between the media stay where they were put.
using TurnPart = std::variant<std::string, Medium>;
struct Turn {
  engine::ChatTurn::Role role = engine::ChatTurn::Role::kUser;
  std::vector<TurnPart> parts;
};

struct QuestionOptions {
  std::vector<Turn> turns;  // at most kAskMediaMax media, kConversationBytesMax of text
  engine::SamplingOptions sampling;
  std::vector<std::string> stops;
  std::vector<std::string> filter_words;
  core::Knobs knobs;
  int answers = 1;                          // 1..kAnswersMax; seeds count up from sampling.seed
  bool partials = false;                    // growing answers go to the sink too
  const std::atomic<bool>* stop = nullptr;  // ends the question with kCancelled; may be null
};

struct PromptSize {
  int tokens = 0;  // visual ones included
  int visual_tokens = 0;
  int context_tokens = 0;  // what the model holds
};

// What else a caller may want to know. Calls come from the asking thread.
class QuestionWatcher {
 public:
  virtual ~QuestionWatcher() = default;
  // Before media are taken in: at least so many. Then again with the true number.
  virtual void on_prompt(const PromptSize&) {}
  // The answer with this number (from 0) begins: events and tokens from here on are its own.
  virtual void on_answer(int) {}
  // Every token before its text; the last one carries the finish reason. False cancels.
  virtual bool on_token(const decode::Token&) { return true; }
};

struct QuestionContext {
  emit::EventSink& sink;
  const core::Clock& clock;
  core::Rng rng;
  QuestionWatcher* watcher = nullptr;
};

// One final `answer` event per answer goes to `sink`; `watcher` may be null.
// Errors of answer_question: those of
// Source::open and next, of the encoder, and of the model; kExhausted when media and question do
// not fit the context, found before any medium is opened where the size of a view is known
// (SessionModels::view_tokens); kMediaUnusable when a medium shows no picture.
core::Status answer_question(const QuestionOptions& options, const SessionModels& models,
                             QuestionContext context);

// The answers to a Focus that is ready. Errors: those of decoding.
core::Status answer_focus(const attend::Focus& focus, const QuestionOptions& options,
                          const SessionModels& models, const QuestionContext& context);

// Tokens of a conversation's texts, with the template; media count nothing. Of one that overflows
// the context: at least so many. Errors: those of LanguageModel::render.
core::Result<int> count_text_tokens(const std::vector<Turn>& turns, const SessionModels& models);

}  // namespace saccade::session
