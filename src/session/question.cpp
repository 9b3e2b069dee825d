#include "session/question.h"

#include <memory>
#include <utility>

#include "attend/attend.h"
#include "decode/decode.h"
#include "emit/emitter.h"
#include "perceive/hear/hear.h"
#include "perceive/see/see.h"
#include "session/answer.h"
#include "session/intake.h"

namespace saccade::session {
namespace {

constexpr std::chrono::milliseconds kWait{100};

// Looks at, reads and listens to one medium.
class MediumReader {
 public:
  MediumReader(const QuestionOptions& options, const SessionModels& models)
      : options_(options), models_(models), seer_(models.vision) {
    if (options.senses.hear) {
      listener_.emplace(*models.speech, *models.voice,
                        perceive::ListenerOptions{.partials = false});
    }
  }

  core::Result<attend::QuestionMedium> take(Intake& intake) {
    while (!(options_.stop && *options_.stop)) {
      auto item = intake.next(kWait);
      if (!item) {
        if (item.error().code == core::ErrorCode::kTimeout) continue;
        return std::move(item).error();
      }
      if (std::holds_alternative<ingest::EndOfSource>(*item)) return finish();
      const auto* frame = std::get_if<ingest::Frame>(&*item);
      if (!frame) continue;
      const core::Status status = frame->picture() ? on_picture(*frame) : on_sound(*frame);
      if (!status) return status.error();
      if (!listener_ && pictures_ >= options_.pictures_max) return finish();
    }
    return core::error(core::ErrorCode::kCancelled, "the question was cancelled");
  }

  core::SteadyTime captured() const { return captured_; }
  core::MediaTime last() const { return last_; }

 private:
  core::Status on_picture(const ingest::Frame& frame) {
    if (pictures_ >= options_.pictures_max) return {};
    auto seen = seer_.see(frame, options_.knobs);
    if (!seen) return std::move(seen).error();
    if (seen->fault) return std::move(*seen->fault);
    if (seen->unchanged) return {};
    ++pictures_;
    captured_ = frame.captured;
    last_ = frame.time;
    for (perceive::SeenView& view : seen->views) medium_.views.push_back(std::move(view));
    if (!options_.senses.read) return {};
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

  core::Result<attend::QuestionMedium> finish() {
    if (listener_) {
      auto heard = listener_->flush();
      if (!heard) return std::move(heard).error();
      note(*heard);
    }
    return std::move(medium_);
  }

  void note(const std::vector<perceive::Utterance>& heard) {
    for (const perceive::Utterance& utterance : heard) medium_.heard.push_back(utterance.text());
  }

  const QuestionOptions& options_;
  const SessionModels& models_;
  perceive::Seer seer_;
  std::optional<perceive::Listener> listener_;
  attend::QuestionMedium medium_;
  core::SteadyTime captured_;
  core::MediaTime last_;
  int pictures_ = 0;
};

core::Result<attend::Question> take_media(const QuestionOptions& options,
                                          const SessionModels& models, const core::Clock& clock,
                                          core::Rng rng) {
  attend::Question question;
  question.text = options.text;
  question.knobs = std::make_shared<core::Knobs>(options.knobs);
  for (const ingest::SourceOptions& medium : options.media) {
    Intake::Options open{medium, std::nullopt};
    open.source.want_audio = options.senses.hear;
    const core::Rng medium_rng(rng.next());
    auto intake = Intake::open(std::move(open), clock, medium_rng);
    if (!intake) return std::move(intake).error();
    MediumReader reader(options, models);
    auto taken = reader.take(**intake);
    if (!taken) return std::move(taken).error();
    question.captured = reader.captured();
    question.time = question.end = reader.last();
    question.parts.emplace_back(std::move(taken).value());
  }
  return question;
}

}  // namespace

core::Status answer_question(const QuestionOptions& options, const SessionModels& models,
                             emit::EventSink& sink, const core::Clock& clock, core::Rng rng) {
  if (!models.language || !models.vision) {
    return core::error(core::ErrorCode::kUsage, "a question needs a vision-language model");
  }
  emit::EmitterOptions emit_options;
  emit_options.stops = options.stops;
  emit_options.filter_words = options.filter_words;
  auto emitter = emit::Emitter::create(std::move(emit_options), sink, clock);
  if (!emitter) return std::move(emitter).error();

  auto question = take_media(options, models, clock, rng);
  if (!question) return std::move(question).error();
  auto focus = attend::make_question_focus(std::move(question).value());
  if (!focus) return std::move(focus).error();

  decode::Decoder decoder(*models.language, clock);
  const decode::AnswerOptions chosen{
      .answer = 1, .sampling = options.sampling, .stops = options.stops};
  return answer(*focus, decoder, **emitter, chosen);
}

}  // namespace saccade::session
