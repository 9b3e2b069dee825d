#include "session/question.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "attend/attend.h"
#include "decode/decode.h"
#include "emit/emitter.h"
#include "perceive/hear/hear.h"
#include "perceive/see/see.h"
#include "session/answer.h"
#include "session/device.h"
#include "session/intake.h"

namespace saccade::session {
namespace {

constexpr std::chrono::milliseconds kWait{50};

core::Error cancelled() {
  return core::error(core::ErrorCode::kCancelled, "the question was cancelled");
}

// Looks at, reads and listens to one medium.
class MediumReader {
 public:
  MediumReader(const Medium& medium, const QuestionOptions& options, const SessionModels& models)
      : senses_(medium.senses),
        fps_(medium.source.fps),
        medium_spread_(medium.spread && medium.senses.see),
        pictures_max_(medium.pictures_max),
        options_(options),
        models_(models),
        seer_(medium.senses.see ? models.vision : nullptr) {
    if (senses_.hear) {
      listener_.emplace(*models.speech, *models.voice,
                        perceive::ListenerOptions{.partials = false});
    }
  }

  // Nothing when the medium should be opened anew, at the rate of spread_fps().
  core::Result<std::optional<attend::QuestionMedium>> take(Intake& intake) {
    while (!(options_.stop && *options_.stop)) {
      auto item = intake.next(kWait);
      if (!item) {
        if (item.error().code == core::ErrorCode::kTimeout) continue;
        return std::move(item).error();
      }
      if (std::holds_alternative<ingest::EndOfSource>(*item)) return finish();
      if (const auto* info = std::get_if<ingest::SourceInfo>(&*item)) {
        if (too_long(*info)) return std::optional<attend::QuestionMedium>();
      }
      const auto* frame = std::get_if<ingest::Frame>(&*item);
      if (!frame) continue;
      const core::Status status = frame->picture() ? on_picture(*frame) : on_sound(*frame);
      if (!status) return status.error();
      if (!listener_ && pictures_ >= pictures_max_) return finish();
    }
    return cancelled();
  }

  double spread_fps() const { return spread_fps_; }
  core::SteadyTime captured() const { return captured_; }
  core::MediaTime last() const { return last_; }

 private:
  bool too_long(const ingest::SourceInfo& info) {
    const double seconds = info.duration.seconds(), rate = pictures_max_ / seconds;
    if (!medium_spread_ || spread_fps_ > 0 || !(seconds > 0) || rate >= fps_) return false;
    spread_fps_ = rate;
    return true;
  }

  core::Status on_picture(const ingest::Frame& frame) {
    if (pictures_ >= pictures_max_ || !senses_.see) return {};
    auto seen = seer_.see(frame, options_.knobs);
    if (!seen) return std::move(seen).error();
    if (seen->fault) return std::move(*seen->fault);
    if (seen->unchanged) return {};
    ++pictures_;
    captured_ = frame.captured;
    last_ = frame.time;
    for (perceive::SeenView& view : seen->views) medium_.views.push_back(std::move(view));
    if (!senses_.read) return {};
    auto lines = models_.reader->read_still(frame.picture()->pixels.view());
    if (!lines) return std::move(lines).error();
    for (perceive::TextLine& line : *lines) medium_.screen.push_back(std::move(line.text));
    return {};
  }

  core::Status on_sound(const ingest::Frame& frame) {
    if (!listener_) return {};
    auto heard = listener_->push(frame, options_.knobs);
    if (!heard) return std::move(heard).error();
    note(*heard);
    return {};
  }

  core::Result<std::optional<attend::QuestionMedium>> finish() {
    if (listener_) {
      auto heard = listener_->flush();
      if (!heard) return std::move(heard).error();
      note(*heard);
    } else if (pictures_ == 0) {
      return core::error(core::ErrorCode::kMediaUnusable, "there is no picture in it",
                         "send a picture or a video");
    }
    return std::optional<attend::QuestionMedium>(std::move(medium_));
  }

  void note(const std::vector<perceive::Utterance>& heard) {
    for (const perceive::Utterance& utterance : heard) medium_.heard.push_back(utterance.text());
  }

  const Senses senses_;
  const double fps_;
  const bool medium_spread_;
  const int pictures_max_;
  const QuestionOptions& options_;
  const SessionModels& models_;
  perceive::Seer seer_;
  std::optional<perceive::Listener> listener_;
  attend::QuestionMedium medium_;
  double spread_fps_ = 0;
  core::SteadyTime captured_;
  core::MediaTime last_;
  int pictures_ = 0;
};

core::Result<std::unique_ptr<Intake>> open_medium(const Medium& medium, double fps,
                                                  QuestionContext& context) {
  Intake::Options open{medium.source, std::nullopt};
  open.source.fps = fps;
  open.source.want_audio = medium.senses.hear;
  open.source.want_video = medium.senses.see || medium.senses.read;
  const core::Rng medium_rng(context.rng.next());
  return Intake::open(std::move(open), context.clock, medium_rng);
}

core::Status take_medium(const Medium& medium, const QuestionOptions& options,
                         const SessionModels& models, QuestionContext& context,
                         attend::Question& question) {
  auto intake = open_medium(medium, medium.source.fps, context);
  if (!intake) return std::move(intake).error();
  MediumReader reader(medium, options, models);
  auto taken = reader.take(**intake);
  if (taken && !*taken) {
    intake = open_medium(medium, reader.spread_fps(), context);
    if (!intake) return std::move(intake).error();
    taken = reader.take(**intake);
  }
  if (!taken) return std::move(taken).error();
  question.captured = reader.captured();
  question.time = question.end = reader.last();
  question.turns.back().parts.emplace_back(std::move(**taken));
  return {};
}

core::Result<attend::Question> take_media(const QuestionOptions& options,
                                          const SessionModels& models, QuestionContext& context) {
  attend::Question question;
  question.knobs = std::make_shared<core::Knobs>(options.knobs);
  for (const Turn& turn : options.turns) {
    question.turns.emplace_back().role = turn.role;
    for (const TurnPart& part : turn.parts) {
      if (const auto* text = std::get_if<std::string>(&part)) {
        question.turns.back().parts.emplace_back(*text);
        continue;
      }
      const auto status = take_medium(std::get<Medium>(part), options, models, context, question);
      if (!status) return status.error();
    }
  }
  return question;
}

core::Status check_models(const QuestionOptions& options, const SessionModels& models) {
  const auto missing = [](const char* what) { return core::error(core::ErrorCode::kUsage, what); };
  if (!models.language) return missing("a question needs a language model");
  for (const Turn& turn : options.turns) {
    for (const TurnPart& part : turn.parts) {
      const auto* medium = std::get_if<Medium>(&part);
      if (!medium) continue;
      if (medium->senses.see && !models.vision) return missing("this model sees no pictures");
      if (medium->senses.read && !models.reader) return missing("there is no text reader");
      if (medium->senses.hear && !(models.voice && models.speech)) {
        return missing("there is no speech model");
      }
    }
  }
  if (options.answers >= 1 && options.answers <= kAnswersMax) return {};
  return core::error(core::ErrorCode::kUsage, "answers are " + std::to_string(options.answers) +
                                                  ", allowed are 1.." +
                                                  std::to_string(kAnswersMax));
}

// The tokens each medium shows at least.
int least_visual_tokens(const QuestionOptions& options, const SessionModels& models) {
  int tokens = 0;
  for (const Turn& turn : options.turns) {
    for (const TurnPart& part : turn.parts) {
      const auto* medium = std::get_if<Medium>(&part);
      if (medium && medium->senses.see) tokens += models.view_tokens;
    }
  }
  return tokens;
}

core::Status check_room(const PromptSize& size, QuestionWatcher* watcher) {
  if (watcher) watcher->on_prompt(size);
  if (size.context_tokens == 0 || size.tokens < size.context_tokens) return {};
  return core::error(core::ErrorCode::kExhausted,
                     "the prompt has at least " + std::to_string(size.tokens) +
                         " tokens, the context holds " + std::to_string(size.context_tokens),
                     "ask with fewer media or less text");
}

struct Choice {
  attend::Focus focus;
  int number = 0;
};

core::Status answer_once(Choice choice, const QuestionOptions& options, const SessionModels& models,
                         const QuestionContext& context) {
  attend::Focus& focus = choice.focus;
  emit::EmitterOptions emit_options;
  emit_options.stops = options.stops;
  emit_options.filter_words = options.filter_words;
  emit_options.partials = options.partials;
  auto emitter = emit::Emitter::create(std::move(emit_options), context.sink, context.clock);
  if (!emitter) return std::move(emitter).error();

  decode::Decoder decoder(*models.language, context.clock);
  decode::AnswerOptions chosen{.answer = 1, .sampling = options.sampling, .stops = options.stops};
  chosen.sampling.seed += static_cast<std::uint64_t>(choice.number);
  if (context.watcher) context.watcher->on_answer(choice.number);
  AnswerWay way{.decoder = decoder, .emitter = **emitter, .seating = {models.device, models.owner}};
  bool told = false;
  way.on_token = [&](const decode::Token& token) {
    if (options.stop && *options.stop) return false;
    if (!context.watcher) return true;
    if (!std::exchange(told, true)) {
      context.watcher->on_prompt({.tokens = decoder.prompt_tokens(),
                                  .visual_tokens = focus.visual_tokens,
                                  .context_tokens = models.language->traits().context_tokens});
    }
    return context.watcher->on_token(token);
  };
  return answer(focus, way, chosen);
}

}  // namespace

core::Result<int> count_text_tokens(const std::vector<Turn>& turns, const SessionModels& models) {
  std::vector<engine::ChatTurn> texts;
  for (const Turn& turn : turns) {
    engine::ChatTurn& said = texts.emplace_back();
    said.role = turn.role;
    for (const TurnPart& part : turn.parts) {
      if (const auto* text = std::get_if<std::string>(&part)) said.parts.push_back({*text});
    }
  }
  const auto prompt = models.language->render(texts);
  if (prompt) return prompt->tokens;
  if (prompt.error().code != core::ErrorCode::kExhausted) return prompt.error();
  // It overflows: by how much?
  std::size_t tokens = 0;
  for (const engine::ChatTurn& turn : texts) {
    for (const engine::ChatPart& part : turn.parts) {
      const auto text = models.language->tokenize(std::get<std::string>(part.content));
      if (!text) return prompt.error();
      tokens += text->size();
    }
  }
  const auto context = static_cast<std::size_t>(models.language->traits().context_tokens);
  return static_cast<int>(std::max(tokens, context));
}

core::Status answer_question(const QuestionOptions& options, const SessionModels& models,
                             QuestionContext context) {
  if (const auto status = check_models(options, models); !status) return status;
  const auto text = count_text_tokens(options.turns, models);
  if (!text) return text.error();
  // Does it fit at all? Asked before a medium is opened, so that hopeless ones cost nothing.
  PromptSize size{.tokens = 0,
                  .visual_tokens = least_visual_tokens(options, models),
                  .context_tokens = models.language->traits().context_tokens};
  size.tokens = *text + size.visual_tokens;
  if (const auto status = check_room(size, context.watcher); !status) return status;
  auto question = take_media(options, models, context);
  if (!question) return std::move(question).error();
  auto focus = attend::make_question_focus(std::move(question).value());
  if (!focus) return std::move(focus).error();
  size.visual_tokens = focus->visual_tokens;
  size.tokens = *text + size.visual_tokens;
  if (const auto status = check_room(size, context.watcher); !status) return status;
  return answer_focus(*focus, options, models, context);
}

core::Status answer_focus(const attend::Focus& focus, const QuestionOptions& options,
                          const SessionModels& models, const QuestionContext& context) {
  for (int i = 0; i < options.answers; ++i) {
    if (options.stop && *options.stop) return cancelled();
    if (const auto status = answer_once({focus, i}, options, models, context); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace saccade::session
