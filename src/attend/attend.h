#pragma once
// What the language model shall see: a Percept and the standing prompts become Foci, one per
// prompt. Pure: no model, no clock, no threads of its own.
//
// A prompt is laid out as [system text] [user: views, context lines, question]. Tiles come first,
// row by row, and the global view last, as the tiled families were trained. Context lines are the
// texts on the screen in reading order, then what was said, oldest first; when they are too many,
// the newest stay. Visual tokens are left out by the knob keep_share (reduce_views.h).
//
// Threads: an Attender belongs to one thread. Limits: core/limits.h (kPromptsMax, kPromptBytesMax,
// kContextLinesMax, kAskMediaMax, kConversationBytesMax, kTextLineBytesMax).
#include <cstddef>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "attend/attend_types.h"
#include "core/limits.h"
#include "core/result.h"
#include "perceive/perceive_types.h"

namespace saccade::attend {

struct AttendOptions {
  std::vector<StandingPrompt> prompts;
  std::string system;         // text of the system turn; empty = no such turn
  bool context_lines = true;  // LanguageTraits.wants_context unless the user says otherwise
  std::size_t context_lines_max = core::limits::kContextLinesMax;  // 0..kContextLinesMax
  // Speech that ended longer ago than this is no context any more.
  core::MediaDuration speech_window = core::MediaDuration::from_ms(30'000);
};

class Attender {
 public:
  // Errors: kUsage (a prompt's text is empty or too long, an id is empty or used twice, a limit is
  // out of range), kExhausted (more than kPromptsMax prompts).
  static core::Result<Attender> make(AttendOptions options);

  // Remembers what was said as context for later prompts; a partial utterance is replaced by the
  // newer one of the same id. The oldest goes when kContextLinesMax are remembered.
  void note_speech(perceive::Utterance utterance);

  // One Focus per prompt, in their order; none when the picture is unchanged (the last answers
  // still hold) or has no views. Speech in the Percept is noted first, in any case.
  std::vector<Focus> attend(const perceive::Percept& percept);

  // Other standing prompts from the next Percept on. Errors: as make; the old ones then stay.
  core::Status set_prompts(std::vector<StandingPrompt> prompts);

  // The Percept laid out as for a prompt, without any question yet: for questions about now.
  Focus window(const perceive::Percept& percept) const;

 private:
  explicit Attender(AttendOptions options) : options_(std::move(options)) {}
  std::vector<std::string> context_of(const perceive::Percept& percept) const;

  AttendOptions options_;
  std::deque<perceive::Utterance> heard_;  // oldest first, at most kContextLinesMax
};

// One picture or recording a question is about.
struct QuestionMedium {
  std::vector<perceive::SeenView> views;   // of the picture, or of the chosen pictures in order
  std::vector<std::string> screen, heard;  // plain text, one entry per line
};
// Text between the media stays where it was put.
using QuestionPart = std::variant<std::string, QuestionMedium>;
struct QuestionTurn {
  engine::ChatTurn::Role role = engine::ChatTurn::Role::kUser;
  std::vector<QuestionPart> parts;  // media and texts in the order given; empty texts are left out
};

struct Question {
  std::string id = "question";      // shown in events
  std::vector<QuestionTurn> turns;  // the conversation so far, the question last
  core::MediaTime time, end;        // media span the answer is about; may be unset
  core::SteadyTime captured;
  core::KnobsPtr knobs;
};

// A one-off question as a Focus. Errors: kUsage (nothing is asked, or texts of more than
// kConversationBytesMax), kExhausted (more than kAskMediaMax media).
core::Result<Focus> make_question_focus(Question question);

}  // namespace saccade::attend
