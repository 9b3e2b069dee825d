#include "transport/serve/live_stream.h"

#include <utility>

#include "transport/event_json.h"
#include "transport/json_text.h"
#include "transport/serve/picture_jpeg.h"

namespace saccade::transport {
namespace {

std::int64_t wall_seconds(const core::Clock& clock) { return clock.wall_now().us / 1'000'000; }

bool is_state(const std::string& reason) {
  return reason == "connecting" || reason == "up" || reason == "stale" || reason == "failed";
}

std::string without(std::string text, const std::string& secret, const std::string& shown) {
  if (secret.empty()) return text;
  for (std::size_t at = text.find(secret); at != text.npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), shown);
    at += shown.size();
  }
  return text;
}

std::string prompts_json(const std::vector<attend::StandingPrompt>& prompts,
                         attend::StandingPrompt::Kind kind) {
  JsonArray list;
  for (const attend::StandingPrompt& prompt : prompts) {
    if (prompt.kind != kind) continue;
    JsonObject json;
    json.text("id", prompt.id);
    json.text("text", prompt.text);
    list.add(json.str());
  }
  return list.str();
}

std::string senses_json(const session::Senses& senses) {
  JsonArray list;
  if (senses.see) list.add("\"see\"");
  if (senses.read) list.add("\"read\"");
  if (senses.hear) list.add("\"hear\"");
  return list.str();
}

}  // namespace

LiveStream::LiveStream(Options options, session::SharedModels::Loan loan, const core::Clock& clock,
                       ServeMetrics& metrics)
    : options_(std::move(options)),
      loan_(std::move(loan)),
      clock_(clock),
      metrics_(metrics),
      ring_(std::make_shared<EventRing>(options_.id)),
      created_s_(wall_seconds(clock)),
      since_s_(created_s_),
      knobs_(options_.session.knobs),
      prompts_(options_.session.prompts),
      governing_(options_.session.governing) {}

core::Result<std::shared_ptr<LiveStream>> LiveStream::start(Options options,
                                                            session::SharedModels& models,
                                                            const core::Clock& clock,
                                                            ServeMetrics& metrics) {
  auto loan = models.lend(options.session.senses, options.tenant);
  if (!loan) return loan.error();
  if (options.pushed) {
    ingest::SourceOptions& source = options.session.source;
    options.outcomes = std::make_shared<PushOutcomes>(options.id, metrics);
    source.push = std::make_shared<ingest::PushPort>(source.fps, options.outcomes, clock);
  }
  std::unique_ptr<LiveStream> made(
      new LiveStream(std::move(options), std::move(loan).value(), clock, metrics));
  const std::shared_ptr<LiveStream> stream = std::move(made);
  auto session = session::Session::open(stream->options_.session, stream->loan_.models(), *stream,
                                        clock, stream->options_.rng);
  if (!session) {
    core::Error error = std::move(session).error();
    error.message = without(std::move(error.message), stream->options_.session.source.url,
                            stream->options_.shown_source);
    return error;
  }
  stream->session_ = std::move(session).value();
  stream->thread_ = std::thread([raw = stream.get()] { raw->run(); });
  return stream;
}

LiveStream::~LiveStream() {
  if (session_) session_->stop();
  if (thread_.joinable()) thread_.join();
}

void LiveStream::run() {
  const core::Status outcome = session_->run();
  if (port()) {
    port()->close();
    outcomes()->ring()->close();
  }
  tell_end(outcome);
}

void LiveStream::tell_end(const core::Status& outcome) {
  emit::Event event;
  event.kind = emit::EventKind::kStatus;
  event.stream = options_.id;
  event.seq = ring_->newest() + 1;
  event.reason = outcome ? "ended" : "failed";
  if (!outcome) {
    event.text =
        without(outcome.error().message, options_.session.source.url, options_.shown_source);
  }
  {
    const std::lock_guard lock(mutex_);
    state_ = event.reason;
    reason_ = event.text;
    since_s_ = wall_seconds(clock_);
    ended_at_ = clock_.now();
  }
  ring_->append(event.seq, transport::to_json(event));
  ring_->close();
  ended_ = true;
}

void LiveStream::on_event(const emit::Event& event) {
  count(event);
  emit::Event shown = event;
  shown.text = without(std::move(shown.text), options_.session.source.url, options_.shown_source);
  // A file connects to nothing: it is up once its header was read.
  const bool opened = options_.file && event.reason == "source";
  if (event.kind == emit::EventKind::kStatus && (opened || is_state(event.reason))) {
    const std::lock_guard lock(mutex_);
    state_ = opened ? "up" : event.reason;
    reason_ = opened ? "" : shown.text;
    since_s_ = wall_seconds(clock_);
  }
  ring_->append(event.seq, transport::to_json(shown));
}

void LiveStream::count(const emit::Event& event) {
  const std::string kind(name_of(event.kind));
  metrics_.events.add({kind});
  if (event.frame_age_ms) metrics_.frame_age.observe(*event.frame_age_ms / 1e3, {kind});
  for (std::size_t i = 0; i < telemetry::kStages; ++i) {
    const auto stage = static_cast<telemetry::Stage>(i);
    if (event.stages[stage] <= 0) continue;
    metrics_.stage.observe(event.stages[stage] / 1e3, {std::string(name_of(stage))});
  }
  if (event.kind == emit::EventKind::kDrop) {
    metrics_.frames.add({event.reason}, static_cast<double>(event.count));
  }
  if (event.kind != emit::EventKind::kStats) return;
  for (const auto& [name, value] : event.numbers) {
    if (name == "frames_seen") metrics_.frames.add({"seen"}, value);
    if (name == "frames_unchanged") metrics_.frames.add({"unchanged"}, value);
  }
}

core::Result<LiveStream::Picture> LiveStream::picture() const {
  auto shown = session_->shown();
  const std::lock_guard lock(picture_mutex_);
  if (!shown || (picture_.shown && picture_.shown->number >= shown->number)) return picture_;
  auto jpeg = jpeg_of(shown->view());
  if (!jpeg) return jpeg.error();
  picture_ = {std::move(shown), std::move(*jpeg)};
  return picture_;
}

core::Knobs LiveStream::knobs() const {
  const std::lock_guard lock(mutex_);
  return knobs_;
}

session::Governing LiveStream::governing() const {
  const std::lock_guard lock(mutex_);
  return governing_;
}

core::Status LiveStream::steer(session::Steering steering) {
  const auto prompts = steering.prompts;
  const auto knobs = steering.knobs;
  const auto governing = steering.governing;
  const core::Status status = session_->steer(std::move(steering));
  if (!status) return status;
  const std::lock_guard lock(mutex_);
  if (knobs) knobs_ = *knobs;
  if (prompts) prompts_ = *prompts;
  if (governing) governing_ = *governing;
  return {};
}

std::string LiveStream::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

core::SteadyTime LiveStream::ended_at() const {
  const std::lock_guard lock(mutex_);
  return ended_at_;
}

std::string LiveStream::to_json() const {
  JsonObject json;
  json.text("id", options_.id);
  json.text("object", "stream");
  json.count("created", static_cast<std::uint64_t>(created_s_));
  json.text("source", options_.shown_source);
  {
    const std::lock_guard lock(mutex_);
    json.text("state", state_);
    if (!reason_.empty()) json.text("reason", reason_);
    json.count("since", static_cast<std::uint64_t>(since_s_));
    json.raw("prompts", prompts_json(prompts_, attend::StandingPrompt::Kind::kAnswer));
    json.raw("alerts", prompts_json(prompts_, attend::StandingPrompt::Kind::kAlert));
    json.text("policy", governing_.policy);
    if (governing_.slo_ms > 0) json.count("slo_ms", static_cast<std::uint64_t>(governing_.slo_ms));
  }
  json.raw("senses", senses_json(options_.session.senses));
  const core::MediaTime position = session_->position();
  if (!position.is_special()) json.seconds("position_s", position.seconds());
  json.count("events", ring_->newest());
  json.count("readers", ring_->readers());
  return json.str();
}

}  // namespace saccade::transport
