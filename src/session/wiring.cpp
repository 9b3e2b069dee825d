#include "session/wiring.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "session/fit_knobs.h"

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
  perceive::Percept percept = parts_.perceiver.see(std::move(moment));
  if (!parts_.lines_first) attend(percept);
  parts_.perceiver.read(percept);
  if (parts_.lines_first) attend(percept);
  parts_.emitter->on_percept(percept);
  for (const core::Error& fault : parts_.perceiver.take_faults()) parts_.emitter->on_error(fault);
}

void Wiring::attend(const perceive::Percept& percept) {
  while (auto utterance = heard_.try_pop()) parts_.attender.note_speech(std::move(*utterance));
  if (!parts_.decoder || percept.unchanged || percept.views.empty()) return;
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
      (void)answer(focus, *parts_.decoder, *parts_.emitter,
                   {.answer = ++answers_, .sampling = options_.sampling, .stops = options_.stops});
    }
  }
}

void Wiring::stop() {
  stopping_ = true;
  parts_.intake->close();
}

}  // namespace saccade::session
