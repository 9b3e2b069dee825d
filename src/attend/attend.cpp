#include "attend/attend.h"

#include <algorithm>
#include <set>
#include <utility>

#include "attend/context_lines.h"
#include "attend/reduce_views.h"

namespace saccade::attend {
namespace {

using core::limits::kAskMediaMax;
using core::limits::kContextLinesMax;
using core::limits::kConversationBytesMax;
using core::limits::kPromptBytesMax;
using core::limits::kPromptsMax;

core::Status check_text(const std::string& what, const std::string& text) {
  if (!text.empty() && text.size() <= kPromptBytesMax) return {};
  return core::error(core::ErrorCode::kUsage,
                     what + " has " + std::to_string(text.size()) + " bytes, allowed are 1.." +
                         std::to_string(kPromptBytesMax),
                     text.empty() ? "write a question" : "shorten it");
}

core::Status check_system(const std::string& system) {
  return system.empty() ? core::Status() : check_text("the system text", system);
}

core::Status check_prompts(const std::vector<StandingPrompt>& prompts) {
  if (prompts.size() > kPromptsMax) {
    return core::error(core::ErrorCode::kExhausted,
                       std::to_string(prompts.size()) + " prompts, allowed are at most " +
                           std::to_string(kPromptsMax),
                       "join some of them into one");
  }
  std::set<std::string> ids;
  for (const StandingPrompt& prompt : prompts) {
    if (core::Status status = check_text("prompt '" + prompt.id + "'", prompt.text); !status) {
      return status;
    }
    if (prompt.id.empty() || !ids.insert(prompt.id).second) {
      return core::error(core::ErrorCode::kUsage,
                         "prompt id '" + prompt.id + "' is empty or used twice",
                         "give each prompt its own id");
    }
  }
  return {};
}

void add_text(engine::ChatTurn& turn, std::string text) {
  if (!text.empty()) turn.parts.push_back({std::move(text)});
}

// Tiles first, then the global view: `views` holds global views each followed by its tiles, one
// group per picture. Returns the tokens added.
int add_views(engine::ChatTurn& turn, const std::vector<perceive::SeenView>& views) {
  int tokens = 0;
  const auto add = [&](const perceive::SeenView& view) {
    if (!view.encoded) return;
    turn.parts.push_back({view.encoded});
    tokens += view.encoded->tokens;
  };
  const auto is_global = [](const perceive::SeenView& view) { return view.place.global(); };
  for (auto at = views.begin(); at != views.end();) {
    const auto tiles = is_global(*at) ? at + 1 : at;
    const auto end = std::find_if(tiles, views.end(), is_global);
    std::for_each(tiles, end, add);
    if (tiles != at) add(*at);
    at = end;
  }
  return tokens;
}

void add_system_turn(std::vector<engine::ChatTurn>& turns, const std::string& system) {
  if (system.empty()) return;
  turns.push_back({engine::ChatTurn::Role::kSystem, {}});
  add_text(turns.back(), system);
}

core::Status check_question(const Question& question) {
  std::size_t media = 0, bytes = 0;
  for (const QuestionTurn& turn : question.turns) {
    for (const QuestionPart& part : turn.parts) {
      if (const auto* text = std::get_if<std::string>(&part)) {
        bytes += text->size();
      } else {
        ++media;
      }
    }
  }
  if (media > kAskMediaMax) {
    return core::error(core::ErrorCode::kExhausted,
                       std::to_string(media) + " media in one question, allowed are at most " +
                           std::to_string(kAskMediaMax),
                       "ask about fewer at once");
  }
  if (bytes > kConversationBytesMax) {
    return core::error(core::ErrorCode::kUsage,
                       "the texts have " + std::to_string(bytes) + " bytes, allowed are at most " +
                           std::to_string(kConversationBytesMax),
                       "shorten them");
  }
  if (media == 0 && bytes == 0) {
    return core::error(core::ErrorCode::kUsage, "nothing is asked", "write a question");
  }
  return {};
}

// Views, then what was read and heard in it. Returns the visual tokens.
int add_medium(engine::ChatTurn& turn, const QuestionMedium& medium, const core::KnobsPtr& knobs) {
  const int tokens = add_views(turn, knobs ? reduce_views(medium.views, {}, *knobs) : medium.views);
  std::vector<ContextLine> lines;
  for (const std::string& text : medium.screen) lines.push_back({screen_line(text), {}});
  for (const std::string& text : medium.heard) lines.push_back({heard_line(text), {}});
  for (std::string& line : newest_lines(std::move(lines), kContextLinesMax)) {
    add_text(turn, std::move(line));
  }
  return tokens;
}

}  // namespace

core::Result<Attender> Attender::make(AttendOptions options) {
  if (core::Status status = check_prompts(options.prompts); !status) return status.error();
  if (core::Status status = check_system(options.system); !status) return status.error();
  if (options.context_lines_max > kContextLinesMax) {
    return core::error(core::ErrorCode::kUsage,
                       "context lines " + std::to_string(options.context_lines_max) +
                           ", allowed are 0.." + std::to_string(kContextLinesMax),
                       "allow fewer lines");
  }
  return Attender(std::move(options));
}

void Attender::note_speech(perceive::Utterance utterance) {
  const auto same = std::find_if(heard_.begin(), heard_.end(),
                                 [&](const auto& known) { return known.id == utterance.id; });
  if (same != heard_.end()) {
    *same = std::move(utterance);
    return;
  }
  if (heard_.size() >= kContextLinesMax) heard_.pop_front();
  heard_.push_back(std::move(utterance));
}

std::vector<Focus> Attender::attend(const perceive::Percept& percept) {
  for (const perceive::Utterance& utterance : percept.speech) note_speech(utterance);
  std::vector<Focus> foci;
  if (percept.unchanged || percept.views.empty() || options_.prompts.empty()) return foci;

  const Focus window = this->window(percept);
  for (const StandingPrompt& prompt : options_.prompts) {
    Focus& focus = foci.emplace_back(window);
    focus.prompt = prompt;
    add_text(focus.turns.back(), prompt.text);
  }
  return foci;
}

core::Status Attender::set_prompts(std::vector<StandingPrompt> prompts) {
  if (core::Status status = check_prompts(prompts); !status) return status;
  options_.prompts = std::move(prompts);
  return {};
}

Focus Attender::window(const perceive::Percept& percept) const {
  const align::Moment& moment = percept.moment;
  Focus focus;
  add_system_turn(focus.turns, options_.system);
  engine::ChatTurn& user = focus.turns.emplace_back();
  focus.visual_tokens_full = whole_tokens(percept.views);
  focus.visual_tokens = add_views(
      user, moment.knobs ? reduce_views(percept.views, percept.text_visible, *moment.knobs)
                         : percept.views);
  for (std::string& line : context_of(percept)) add_text(user, std::move(line));
  focus.time = moment.time;
  focus.end = moment.time + moment.span;
  if (moment.picture) focus.captured = moment.picture->captured;
  focus.knobs = moment.knobs;
  focus.ledger = moment.ledger;
  return focus;
}

std::vector<std::string> Attender::context_of(const perceive::Percept& percept) const {
  std::vector<ContextLine> lines;
  if (!options_.context_lines) return {};
  for (const perceive::TextTrack& track : percept.text_visible) {
    if (!track.line.text.empty()) lines.push_back({screen_line(track.line.text), track.first});
  }
  for (const perceive::Utterance& utterance : heard_) {
    // Another epoch's speech has no distance and is none of this picture's business.
    const auto age = percept.moment.time.since(utterance.end);
    const std::string text = utterance.text();
    if (!age || *age > options_.speech_window || text.empty()) continue;
    lines.push_back({heard_line(text), utterance.start});
  }
  return newest_lines(std::move(lines), options_.context_lines_max);
}

core::Result<Focus> make_question_focus(Question question) {
  if (core::Status status = check_question(question); !status) return status.error();
  Focus focus;
  std::string asked;
  for (QuestionTurn& turn : question.turns) {
    engine::ChatTurn& said = focus.turns.emplace_back();
    said.role = turn.role;
    for (QuestionPart& part : turn.parts) {
      if (auto* text = std::get_if<std::string>(&part)) {
        asked = *text;
        add_text(said, std::move(*text));
      } else {
        const auto& medium = std::get<QuestionMedium>(part);
        focus.visual_tokens_full += whole_tokens(medium.views);
        focus.visual_tokens += add_medium(said, medium, question.knobs);
      }
    }
  }
  focus.prompt = {StandingPrompt::Kind::kAnswer, std::move(question.id), std::move(asked)};
  focus.time = question.time;
  focus.end = question.end;
  focus.captured = question.captured;
  focus.knobs = std::move(question.knobs);
  return focus;
}

}  // namespace saccade::attend
