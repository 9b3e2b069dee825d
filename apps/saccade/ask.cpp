// ask MEDIA... QUESTION: one answer, through the same rooms as a stream.
#include <filesystem>
#include <iostream>
#include <utility>

#include "commands.h"
#include "make_options.h"
#include "session/question.h"
#include "sinks.h"

namespace saccade::app {

core::Status run_ask(CommandContext& context, std::vector<std::string> words) {
  if (words.size() < 2) {
    return core::error(core::ErrorCode::kUsage, "ask needs at least one medium and a question",
                       "example: saccade ask picture.png \"What do you see?\"");
  }
  auto loaded = context.settings();
  if (!loaded) return std::move(loaded).error();
  const Settings& settings = loaded->settings;
  auto filter_words = filter_words_of(settings);
  if (!filter_words) return std::move(filter_words).error();

  session::QuestionOptions question;
  const std::string asked = std::move(words.back());
  words.pop_back();
  question.sampling = sampling_of(settings);
  question.stops = settings.stop;
  question.filter_words = std::move(filter_words).value();
  question.knobs = knobs_of(settings);
  question.stop = &context.signals.requested();

  auto models = open_models(context, settings, {.see = true, .read = false, .hear = false});
  if (!models) return std::move(models).error();
  note_on_prompts(context, settings, {asked});
  Senses senses{.see = true, .read = false, .hear = false};
  const bool model_wants = models->vision_language.language->traits().wants_context;
  if (settings.context_lines == "on" || (settings.context_lines == "auto" && model_wants)) {
    auto more = open_models(context, settings, {.see = false, .read = true, .hear = true});
    if (!more) return std::move(more).error();
    models->reader = std::move(more->reader);
    models->voice = std::move(more->voice);
    models->speech = std::move(more->speech);
    senses = {.see = true, .read = true, .hear = true};
  }
  session::Turn& turn = question.turns.emplace_back();
  for (const std::string& medium : words) {
    std::error_code why;
    turn.parts.emplace_back(session::Medium{.source = source_of(settings, medium),
                                            .spread = std::filesystem::is_regular_file(medium, why),
                                            .senses = senses});
  }
  turn.parts.emplace_back(asked);

  JsonLines json(std::cout, {});
  BareText text(context.footer, emit::EventKind::kAnswer);
  emit::EventSink& sink = settings.json ? static_cast<emit::EventSink&>(json) : text;
  return session::answer_question(question, models->lend(),
                                  {.sink = sink,
                                   .clock = context.clock,
                                   .rng = core::Rng(static_cast<std::uint64_t>(settings.seed))});
}

}  // namespace saccade::app
