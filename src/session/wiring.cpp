#include "session/wiring.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "session/fit_knobs.h"
#include "session/question.h"

namespace saccade::session {
Wiring::Wiring(Parts parts, const SessionOptions& options, const core::Clock& clock)
    : parts_(std::move(parts)),
      options_(options),
      clock_(clock),
      knobs_(std::make_shared<core::Knobs>(options.knobs)),
      moments_(parts_.intake->live(), [this](const align::Moment& m) { on_busy(m.time); }),
      sounds_(core::limits::kAudioBlocksQueued),
      foci_(parts_.intake->live(),
            [this](const std::vector<attend::Focus>& f) { on_busy(f.front().time); }),
      heard_(core::limits::kContextLinesMax),
      shown_(clock),
      position_us_(core::MediaTime::unset().us()) {}

// source -> ingest -Frame-> align -Moment-> perceive -Percept-> attend -Focus-> decode -> emit
//           `--- ingest_loop, layer 1 ---'  `- perceive_loop and hear_loop -'  `decode_loop'
// Layer 1 runs at the source's pace, the others at the device's.
core::Status Wiring::run() {
  std::thread perceiving([this] { perceive_loop(); });
  std::thread hearing([this] { hear_loop(); });
  std::thread decoding([this] { decode_loop(); });
  ingest_loop();
  hearing.join();
  perceiving.join();
  decoding.join();
  parts_.emitter->finish();
  return outcome_;
}

void Wiring::ingest_loop() {
  constexpr std::chrono::milliseconds kTick{20};
  while (!stopping_) {
    auto item = parts_.intake->next(kTick);
    take_new_knobs();
    if (item) {
      on_item(std::move(item).value());
    } else if (item.error().code != core::ErrorCode::kTimeout) {
      if (item.error().code != core::ErrorCode::kClosed) outcome_ = std::move(item).error();
      break;
    }
    if (parts_.intake->live()) on_moments(parts_.aligner.tick(clock_.now()));
  }
  on_moments(parts_.aligner.flush());
  moments_.close();
  sounds_.close();
}

void Wiring::on_item(ingest::SourceItem item) {
  if (auto* frame = std::get_if<ingest::Frame>(&item)) {
    const auto past = options_.media_max.us();
    if (past > 0 && frame->time.us() > past) return stop();
    position_us_ = std::max(position_us_.load(), frame->time.us());
    on_moments(parts_.aligner.push(std::move(*frame), knobs_));
    if (const auto late = parts_.aligner.take_late()) parts_.emitter->on_loss(*late);
  } else if (const auto* state = std::get_if<ingest::StateChange>(&item)) {
    parts_.emitter->on_state(*state);
  } else if (const auto* info = std::get_if<ingest::SourceInfo>(&item)) {
    parts_.emitter->on_source(*info);
    knobs_ = fit_knobs(std::move(knobs_), *info, *parts_.emitter);
  } else if (const auto* loss = std::get_if<ingest::Loss>(&item)) {
    parts_.emitter->on_loss(*loss);
  }
}

void Wiring::on_busy(core::MediaTime lost) {
  parts_.emitter->on_drop(emit::DropReason::kBusy, lost);
}

// The two senses of a Moment part here: sound goes its own way, at its own pace.
void Wiring::on_moments(std::vector<align::Moment> moments) {
  for (align::Moment& moment : moments) {
    for (ingest::Frame& sound : moment.sound) {
      if (parts_.listener) sounds_.push(std::move(sound));
    }
    moment.sound.clear();
    if (moment.picture) moments_.put(std::move(moment));
  }
}

void Wiring::perceive_loop() {
  while (auto moment = moments_.take()) perceive(std::move(*moment));
  if (const auto last = parts_.perceiver.finish()) parts_.emitter->on_percept(*last);
  foci_.close();
}

void Wiring::perceive(align::Moment moment) {
  parts_.emitter->summary().count_seen();
  if (const ingest::Picture* picture = moment.picture->picture(); picture && options_.askable) {
    shown_.show(picture->pixels.view(), moment.time);
  }
  perceive::Percept percept = parts_.perceiver.see(std::move(moment));
  // New questions are asked about what stands, too.
  if (take_new_prompts()) percept.unchanged = false;
  if (!parts_.lines_first) attend(percept);
  parts_.perceiver.read(percept);
  if (parts_.lines_first) attend(percept);
  parts_.emitter->on_percept(percept);
  for (const core::Error& fault : parts_.perceiver.take_faults()) parts_.emitter->on_error(fault);
}

void Wiring::attend(const perceive::Percept& percept) {
  while (auto utterance = heard_.try_pop()) parts_.attender.note_speech(std::move(*utterance));
  if (!parts_.decoder || percept.views.empty()) return;
  {
    const std::lock_guard lock(steer_mutex_);
    window_ = parts_.attender.window(percept);
  }
  if (percept.unchanged) return;
  auto foci = parts_.attender.attend(percept);
  if (!foci.empty()) foci_.put(std::move(foci));
}

void Wiring::hear_loop() {
  core::MediaTime now;
  while (auto sound = sounds_.pop()) {
    now = sound->time;
    tell_speech(parts_.listener->push(*sound, options_.knobs), now);
  }
  if (parts_.listener) tell_speech(parts_.listener->flush(), now);
}

void Wiring::tell_speech(core::Result<std::vector<perceive::Utterance>> heard,
                         core::MediaTime now) {
  if (!heard) return parts_.emitter->on_error(heard.error());
  if (heard->empty()) return;
  perceive::Percept percept;
  percept.moment.time = now;
  percept.speech = std::move(heard).value();
  parts_.emitter->on_percept(percept);
  for (perceive::Utterance& utterance : percept.speech) {
    // Prompts want the newest lines: when nobody attends, the oldest go.
    if (!utterance.final) continue;
    while (!heard_.try_push(utterance)) heard_.try_pop();
  }
}

void Wiring::decode_loop() {
  while (auto foci = foci_.take()) {
    for (attend::Focus& focus : *foci) {
      if (stopping_) continue;
      // A failed answer was told as an event; the stream goes on.
      (void)answer(
          focus, {.decoder = *parts_.decoder, .emitter = *parts_.emitter, .device = parts_.device},
          {.answer = ++answers_, .sampling = options_.sampling, .stops = options_.stops});
    }
  }
}

void Wiring::take_new_knobs() {
  const std::lock_guard lock(steer_mutex_);
  if (!steering_.knobs) return;
  auto knobs = std::make_shared<core::Knobs>(*std::exchange(steering_.knobs, std::nullopt));
  knobs->version = knobs_->version + 1;
  parts_.emitter->on_knobs(*knobs);
  knobs_ = std::move(knobs);
}

bool Wiring::take_new_prompts() {
  std::optional<std::vector<attend::StandingPrompt>> prompts;
  {
    const std::lock_guard lock(steer_mutex_);
    prompts = std::exchange(steering_.prompts, std::nullopt);
  }
  return prompts && parts_.attender.set_prompts(std::move(*prompts)).ok();
}

core::Status Wiring::steer(Steering steering) {
  if (steering.prompts) {
    if (!parts_.decoder) {
      return core::error(core::ErrorCode::kUnsupported, "this stream answers no questions",
                         "start it with the sense see");
    }
    attend::AttendOptions options;
    options.prompts = *steering.prompts;
    const auto checked = attend::Attender::make(std::move(options));
    if (!checked) return checked.error();
  }
  const std::lock_guard lock(steer_mutex_);
  if (steering.prompts) steering_.prompts = std::move(steering.prompts);
  if (steering.knobs) steering_.knobs = steering.knobs;
  return {};
}

core::Status Wiring::ask(const QuestionOptions& options, const SessionModels& models,
                         const QuestionContext& context) {
  std::optional<attend::Focus> focus;
  {
    const std::lock_guard lock(steer_mutex_);
    focus = window_;
  }
  if (!focus) {
    return core::error(core::ErrorCode::kUnsupported, "the stream has shown no picture yet",
                       "ask again when it is up");
  }
  const std::string& text = std::get<std::string>(options.turns.at(0).parts.at(0));
  focus->prompt = {attend::StandingPrompt::Kind::kAnswer, "question", text};
  focus->turns.back().parts.push_back({text});
  focus->knobs = std::make_shared<core::Knobs>(options.knobs);
  return answer_focus(*focus, options, models, context);
}

void Wiring::stop() {
  stopping_ = true;
  parts_.intake->close();
}

}  // namespace saccade::session
