#include "emit/emitter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/limits.h"
#include "emit/utf8.h"

namespace saccade::emit {

namespace {

constexpr std::int64_t kDropReportUs = 1'000'000;

std::optional<double> age_ms(core::SteadyTime captured, const core::Clock& clock) {
  if (captured.us == 0) return std::nullopt;  // nobody stamped it
  return std::max(0.0, core::ms_between(captured, clock.now()));
}

// Of a Moment's picture, or of its newest sound.
std::optional<double> age_ms(const align::Moment& moment, const core::Clock& clock) {
  if (moment.picture) return age_ms(moment.picture->captured, clock);
  if (!moment.sound.empty()) return age_ms(moment.sound.back().captured, clock);
  return std::nullopt;
}

std::string_view name_of(ingest::SourceState state) {
  switch (state) {
    case ingest::SourceState::kConnecting:
      return "connecting";
    case ingest::SourceState::kUp:
      return "up";
    case ingest::SourceState::kStale:
      return "stale";
    case ingest::SourceState::kFailed:
      return "failed";
  }
  return "failed";
}

DropReason reason_of(ingest::LossKind kind) {
  switch (kind) {
    case ingest::LossKind::kCorrupt:
      return DropReason::kCorrupt;
    case ingest::LossKind::kRate:
      return DropReason::kRate;
    case ingest::LossKind::kLate:
      return DropReason::kLate;
    case ingest::LossKind::kBusy:
      return DropReason::kBusy;
  }
  return DropReason::kLate;
}

}  // namespace

core::Result<std::unique_ptr<Emitter>> Emitter::create(EmitterOptions options, EventSink& sink,
                                                       const core::Clock& clock) {
  auto stop = StopCutter::create(options.stops);
  if (!stop) return stop.error();
  auto words = make_filter_words(options.filter_words);
  if (!words) return words.error();
  std::unique_ptr<Emitter> emitter(new Emitter(std::move(options), sink, clock));
  emitter->stop_ = std::move(*stop);
  emitter->filter_words_ = (*words)->empty() ? nullptr : *words;
  return emitter;
}

Event Emitter::event_for(const attend::Focus& focus) {
  Event event;
  event.prompt = focus.prompt.id;
  event.id = focus.prompt.id + "-" + std::to_string(++answers_made_);
  event.kind = focus.prompt.kind == attend::StandingPrompt::Kind::kAlert ? EventKind::kAlert
               : focus.prompt.id == options_.default_prompt              ? EventKind::kCaption
                                                                         : EventKind::kAnswer;
  event.t0 = focus.time;
  event.t1 = focus.time;
  if (!focus.end.is_special() && focus.time < focus.end) event.t1 = focus.end;
  event.knobs = focus.knobs ? focus.knobs->version : 0;
  event.stages = focus.ledger;
  return event;
}

core::Status Emitter::begin_answer(std::uint64_t answer, const attend::Focus& focus) {
  const std::lock_guard lock(mutex_);
  if (running_.size() >= kAnswersOpenMax) {
    return core::error(core::ErrorCode::kExhausted,
                       std::to_string(running_.size()) + " answers are running; at most " +
                           std::to_string(kAnswersOpenMax),
                       "use fewer prompts");
  }
  Running running;
  running.event = event_for(focus);
  running.captured = focus.captured;
  running.stop = stop_;
  running.filter = TextFilter(filter_words_);
  running_.insert_or_assign(answer, std::move(running));
  return {};
}

bool Emitter::on_token(const decode::Token& token) {
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(token.answer);
  if (found == running_.end()) return false;
  Running& answer = found->second;
  const core::SteadyTime start = clock_.now();
  const bool last = token.finish != decode::FinishReason::kNone;
  if (!last) {
    answer.logprob_sum += token.logprob;
    ++answer.tokens;
  }
  std::string text = answer.assembler.push(token.bytes);
  if (last) text += answer.assembler.finish();
  text = answer.stop.push(text);
  const bool over = last || answer.stop.stopped() ||
                    answer.event.text.size() + text.size() > core::limits::kAnswerBytesMax;
  if (over && !answer.stop.stopped()) text += answer.stop.finish();
  text = answer.filter.push(text);
  if (over) text += answer.filter.finish();
  answer.event.text += text;
  answer.emit_ms += core::ms_between(start, clock_.now());
  if (over) {
    answer.event.stages[telemetry::Stage::kDecode] += token.decode_ms;
    finish_answer(answer, token);
    running_.erase(found);
    return false;
  }
  if (options_.partials && !text.empty()) {
    answer.event.final = false;
    answer.event.frame_age_ms = age_ms(answer.captured, clock_);
    send(answer.event);
  }
  return true;
}

void Emitter::finish_answer(Running& answer, const decode::Token& last) {
  Event& event = answer.event;
  if (last.finish == decode::FinishReason::kCancelled) return;
  if (last.finish == decode::FinishReason::kError) {
    summary_.count_failed();
    Event failed;
    failed.kind = EventKind::kStatus;
    failed.t0 = event.t0;
    failed.t1 = event.t1;
    failed.prompt = event.prompt;
    failed.reason = "answer failed: " + clean_text(repair_utf8(last.error));
    return send(failed);
  }
  event.final = true;
  event.stages[telemetry::Stage::kEmit] += answer.emit_ms;
  if (answer.tokens > 0) {
    const double mean = answer.logprob_sum / static_cast<double>(answer.tokens);
    if (std::isfinite(mean)) event.confidence = std::min(1.0, std::exp(mean));
  }
  event.frame_age_ms = age_ms(answer.captured, clock_);
  stand(std::move(event));
}

void Emitter::on_verdict(const attend::Focus& focus, const decode::Verdict& verdict) {
  const std::lock_guard lock(mutex_);
  Event event = event_for(focus);
  event.kind = EventKind::kAlert;
  event.yes = verdict.yes;
  event.confidence = verdict.yes ? verdict.probability : 1.0 - verdict.probability;
  event.text = clean_text(repair_utf8(focus.prompt.text), filter_words_);
  event.frame_age_ms = age_ms(focus.captured, clock_);
  stand(std::move(event));
}

// A new complete answer: it extends the standing one when it says the same, else replaces it.
void Emitter::stand(Event event) {
  summary_.count_answer(event.frame_age_ms.value_or(std::nan("")));
  summary_.saw_media_until(event.t1);
  const auto found = standing_.find(event.prompt);
  if (found != standing_.end()) {
    Standing& before = found->second;
    const bool same = options_.merge_same && before.event.text == event.text &&
                      before.event.yes == event.yes && before.event.kind == event.kind &&
                      before.event.t0.epoch() == event.t0.epoch();
    if (same) {
      if (before.event.t1 < event.t1) {
        before.event.t1 = event.t1;
        before.lasted = true;
      }
      return;
    }
    end_span(before);
    standing_.erase(found);
  }
  if (standing_.size() >= kAnswersOpenMax) {  // many one-off questions: the oldest stands no more
    const auto oldest = std::min_element(
        standing_.begin(), standing_.end(),
        [](const auto& a, const auto& b) { return a.second.event.seq < b.second.event.seq; });
    end_span(oldest->second);
    standing_.erase(oldest);
  }
  send(event);
  std::string prompt = event.prompt;
  standing_.emplace(std::move(prompt), Standing{std::move(event), false});
}

void Emitter::end_span(Standing& standing) {
  if (!standing.lasted) return;
  standing.event.frame_age_ms.reset();  // said once, with the answer itself
  standing.event.stages = {};
  send(standing.event);
}

void Emitter::on_percept(const perceive::Percept& percept) {
  const std::lock_guard lock(mutex_);
  const align::Moment& moment = percept.moment;
  summary_.saw_media_until(moment.time);
  tell_drops(false);
  if (percept.unchanged) {
    summary_.count_unchanged();
    for (auto& [prompt, standing] : standing_) {
      if (standing.event.t1 < moment.time && standing.event.t1.epoch() == moment.time.epoch()) {
        standing.event.t1 = moment.time;
        standing.lasted = true;
      }
    }
  }
  if (percept.change.scene_cut) {
    Event cut;
    cut.kind = EventKind::kScene;
    cut.t0 = cut.t1 = moment.time;
    cut.reason = "cut";
    cut.confidence = std::clamp(percept.change.changed_share, 0.0, 1.0);
    cut.frame_age_ms = age_ms(moment, clock_);
    send(cut);
  }
  for (const perceive::TextTrack& track : percept.text_events) on_track(track, moment);
  for (const perceive::Utterance& utterance : percept.speech) on_utterance(utterance, moment);
}

void Emitter::on_track(const perceive::TextTrack& track, const align::Moment& moment) {
  Event event;
  event.kind = EventKind::kText;
  event.id = "text-" + std::to_string(track.id);
  event.text = clean_text(repair_utf8(track.line.text), filter_words_);
  if (event.text.empty()) return;
  event.final = track.ended;
  event.t0 = track.first;
  event.t1 = track.last;
  event.confidence = std::clamp<double>(track.line.confidence, 0.0, 1.0);
  event.box.assign(track.line.box.begin(), track.line.box.end());
  event.knobs = moment.knobs ? moment.knobs->version : 0;
  if (!track.ended) {
    event.frame_age_ms = age_ms(moment, clock_);
    event.stages = moment.ledger;
  }
  send(event);
}

void Emitter::on_utterance(const perceive::Utterance& utterance, const align::Moment& moment) {
  Event event;
  event.kind = EventKind::kSpeech;
  event.id = "speech-" + std::to_string(utterance.id);
  event.final = utterance.final;
  event.t0 = utterance.start;
  event.t1 = utterance.end;
  std::string joined;
  double sum = 0;
  for (const perceive::SpokenWord& word : utterance.words) {
    joined += word.text;
    sum += word.probability;
    std::string text = clean_text(repair_utf8(word.text), filter_words_);
    if (!text.empty()) {
      event.words.push_back({std::move(text), word.start, word.end, word.probability});
    }
  }
  event.text = clean_text(repair_utf8(joined), filter_words_);
  const bool nothing = event.text.empty();
  if (partial_speech_ && (event.id != partial_speech_->id || (nothing && event.final))) {
    withdraw_speech();
  }
  if (nothing) return;
  event.confidence = std::clamp(sum / static_cast<double>(utterance.words.size()), 0.0, 1.0);
  event.knobs = moment.knobs ? moment.knobs->version : 0;
  event.frame_age_ms = age_ms(moment, clock_);
  event.stages = moment.ledger;
  partial_speech_ = event.final ? std::nullopt : std::optional(event);
  send(event);
}

void Emitter::withdraw_speech() {
  Event event;
  event.kind = EventKind::kSpeech;
  event.id = partial_speech_->id;
  event.t0 = event.t1 = partial_speech_->t0;
  event.knobs = partial_speech_->knobs;
  partial_speech_.reset();
  send(event);
}

void Emitter::on_state(const ingest::StateChange& change) {
  const std::lock_guard lock(mutex_);
  Event event;
  event.kind = EventKind::kStatus;
  event.reason = name_of(change.state);
  event.text = clean_text(repair_utf8(change.reason));
  send(event);
}

void Emitter::on_source(const ingest::SourceInfo& info) {
  const std::lock_guard lock(mutex_);
  Event event;
  event.kind = EventKind::kStatus;
  event.reason = "source";
  std::string text = info.container;
  if (info.has_video) {
    text += " · " + info.video_codec;
    // What clients push may have any size, and another one each time.
    if (info.width > 0) {
      text += " " + std::to_string(info.width) + "x" + std::to_string(info.height);
    }
  }
  if (info.has_audio) text += " · " + info.audio_codec;
  if (info.live) text += " · live";
  event.text = clean_text(repair_utf8(text));
  if (info.has_video && info.width > 0) {
    event.numbers = {{"width", info.width}, {"height", info.height}, {"fps", info.fps}};
  }
  if (info.duration.us() > 0) event.numbers.emplace_back("duration_s", info.duration.seconds());
  send(event);
}

void Emitter::on_loss(const ingest::Loss& loss) {
  const std::lock_guard lock(mutex_);
  add_drop(reason_of(loss.kind), loss.time, loss.count);
}

void Emitter::on_drop(DropReason reason, core::MediaTime time, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  add_drop(reason, time, count);
}

void Emitter::add_drop(DropReason reason, core::MediaTime time, std::uint64_t count) {
  if (count == 0) return;
  summary_.count_dropped(reason, count);
  Tally& tally = drops_[static_cast<std::size_t>(reason)];
  tally.count += count;
  if (!time.is_special()) {
    if (!tally.first.is_set()) tally.first = time;
    tally.last = time;
  }
  tell_drops(false);
}

void Emitter::tell_drops(bool all) {
  const core::SteadyTime now = clock_.now();
  for (std::size_t i = 0; i < drops_.size(); ++i) {
    Tally& tally = drops_[i];
    const bool due = !tally.ever_told || core::us_between(tally.told, now) >= kDropReportUs;
    if (tally.count == 0 || !(all || due)) continue;
    Event event;
    event.kind = EventKind::kDrop;
    event.reason = emit::name_of(static_cast<DropReason>(i));
    event.count = tally.count;
    event.t0 = tally.first;
    event.t1 = tally.last;
    tally = Tally{.count = 0, .first = {}, .last = {}, .told = now, .ever_told = true};
    send(event);
  }
}

void Emitter::on_knobs(const core::Knobs& knobs, const std::string& rung) {
  const std::lock_guard lock(mutex_);
  Event event;
  event.kind = EventKind::kKnobs;
  event.knobs = knobs.version;
  event.reason = rung;
  event.numbers = {{"key_pictures_only", knobs.key_pictures_only},
                   {"fovea_tiles_max", knobs.fovea_tiles_max},
                   {"change_threshold", knobs.change_threshold},
                   {"refresh_max_s", knobs.refresh_max.seconds()},
                   {"keep_share", knobs.keep_share},
                   {"max_new_tokens", knobs.max_new_tokens},
                   {"read_pixels_max", static_cast<double>(knobs.read_pixels_max)},
                   {"read_interval_min_ms", knobs.read_interval_min.ms()},
                   {"partial_interval_ms", knobs.partial_interval.ms()}};
  send(event);
}

void Emitter::on_error(const core::Error& error, const std::string& prompt_id) {
  const std::lock_guard lock(mutex_);
  Event event;
  event.kind = EventKind::kStatus;
  event.reason = core::name_of(error.code);
  event.text = clean_text(repair_utf8(error.message));
  event.prompt = prompt_id;
  send(event);
}

void Emitter::finish() {
  const std::lock_guard lock(mutex_);
  running_.clear();
  for (auto& [prompt, standing] : standing_) end_span(standing);
  standing_.clear();
  if (partial_speech_) withdraw_speech();
  tell_drops(true);
}

void Emitter::on_stats(const RunSummary::Machine& machine) {
  const std::lock_guard lock(mutex_);
  Event event;
  event.kind = EventKind::kStats;
  event.numbers = summary_.numbers(machine);
  send(event);
}

void Emitter::send(Event& event) {
  event.stream = options_.stream;
  event.seq = ++seq_;
  summary_.count_event();
  sink_.on_event(event);
}

}  // namespace saccade::emit
