#include "session/build_parts.h"

#include <utility>

namespace saccade::session {
namespace {

core::Status check(const SessionOptions& options, const SessionModels& models) {
  const auto missing = [](const std::string& what) {
    return core::error(core::ErrorCode::kUsage, what);
  };
  if (!options.prompts.empty() && (!models.language || !models.vision)) {
    return missing("a question needs a vision-language model, and none is loaded");
  }
  if (!options.prompts.empty() && !options.senses.see) {
    return missing("a question needs the sense `see`, which is off");
  }
  const double share = options.knobs.keep_share;
  if (!(share >= core::kKeepShareMin && share <= 1)) {
    return missing("keep_share " + std::to_string(share) + " (allowed 0.05..1)");
  }
  if (share < 1 && models.language && !models.language->traits().reduced_spans) {
    return core::error(core::ErrorCode::kUnsupported,
                       "keep_share " + std::to_string(share) + ": the engine of " +
                           models.language->traits().name + " reads pictures whole",
                       "leave keep_share at 1, or use a model that the native engine serves");
  }
  if (options.senses.read && !models.reader) return missing("the sense `read` has no model");
  if (options.senses.hear && (!models.voice || !models.speech)) {
    return missing("the sense `hear` has no model");
  }
  return {};
}

align::AlignOptions align_options(const SessionOptions& options, const Intake& intake) {
  align::AlignOptions align;
  align.has_video = options.source.want_video;
  align.has_audio = options.senses.hear;
  align.clocks = intake.two_clocks() ? align::ClockRule::kArrival
                 : intake.live()     ? align::ClockRule::kDrift
                                     : align::ClockRule::kStamps;
  return align;
}

core::Result<std::unique_ptr<Intake>> open_intake(const SessionOptions& options,
                                                  const BuildContext& context) {
  Intake::Options intake{options.source, options.audio_source};
  intake.source.want_video = options.senses.see || options.senses.read;
  intake.source.want_audio = options.senses.hear && !options.audio_source;
  return Intake::open(std::move(intake), context.clock, context.rng);
}

struct Governed {
  std::unique_ptr<Governor> own;
  std::unique_ptr<Governor::Place> place;
};

// Only sources at the clock's pace: the others wait for their answers.
core::Result<Governed> govern(const SessionOptions& options, const SessionModels& models,
                              const Intake& intake, const core::Clock& clock) {
  Governed out;
  if (!intake.paced()) return out;
  const bool asked = options.governing.policy != "auto" || options.governing.slo_ms > 0;
  if (!models.governor && !asked) return out;
  if (!models.governor) out.own = std::make_unique<Governor>(clock);
  if (out.own && options.governing.book) out.own->set_policies(options.governing.book);
  auto place = join_governor(out.own ? *out.own : *models.governor, options, models);
  if (!place) return place.error();
  out.place = std::move(*place);
  return out;
}

}  // namespace

bool wants_lines(ContextLines chosen, const SessionModels& models) {
  if (chosen == ContextLines::kModelDecides) {
    return models.language && models.language->traits().wants_context;
  }
  return chosen == ContextLines::kOn;
}

core::Result<Parts> build_parts(const SessionOptions& options, const SessionModels& models,
                                BuildContext context) {
  if (const auto status = check(options, models); !status) return status.error();
  const bool lines = wants_lines(options.context_lines, models);

  emit::EmitterOptions emit_options;
  emit_options.stream = options.name;
  emit_options.stops = options.stops;
  emit_options.filter_words = options.filter_words;
  auto emitter = emit::Emitter::create(std::move(emit_options), context.sink, context.clock);
  if (!emitter) return std::move(emitter).error();

  attend::AttendOptions attend_options;
  attend_options.prompts = options.prompts;
  attend_options.context_lines = lines;
  auto attender = attend::Attender::make(std::move(attend_options));
  if (!attender) return std::move(attender).error();

  // Last: from here on a worker runs and a camera may be busy.
  auto intake = open_intake(options, context);
  if (!intake) return std::move(intake).error();
  align::Aligner aligner(align_options(options, **intake), context.clock);
  auto governed = govern(options, models, **intake, context.clock);
  if (!governed) return std::move(governed).error();

  Parts parts{.own_governor = std::move(governed->own),
              .place = std::move(governed->place),
              .intake = std::move(intake).value(),
              .emitter = std::move(emitter).value(),
              .aligner = std::move(aligner),
              .perceiver =
                  perceive::Perceiver(options.senses.see ? models.vision : nullptr,
                                      options.senses.read ? models.reader : nullptr, context.clock),
              .listener = std::nullopt,
              .attender = std::move(attender).value(),
              .decoder = std::nullopt,
              .seating = {models.device, models.owner},
              .lines_first = lines && options.senses.read};
  if (options.senses.hear) {
    parts.listener.emplace(*models.speech, *models.voice,
                           perceive::ListenerOptions{.partials = options.partial_speech});
  }
  if (!options.prompts.empty() || (options.askable && models.language)) {
    parts.decoder.emplace(*models.language, context.clock);
  }
  return parts;
}

}  // namespace saccade::session
