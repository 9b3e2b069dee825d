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
      moments_(parts_.intake->paced(), [this](const align::Moment& m) { on_busy(m); }),
      asked_(parts_.intake->paced(),
             [this](const Asked& lost) {
               parts_.emitter->on_drop(emit::DropReason::kBusy, lost.foci.front().time);
             }),
      hearing_(std::move(parts_.listener), *parts_.emitter, options.knobs),
      shown_(clock),
      position_us_(core::MediaTime::unset().us()) {}

// source -> ingest -Frame-> align -Moment-> perceive -Percept-> attend -Focus-> decode -> emit
//           `--- ingest_loop, layer 1 ---'  `- perceive_loop and hearing_ --'  `decode_loop'
// Layer 1 runs at the source's pace, the others at the device's.
core::Status Wiring::run() {
  std::thread perceiving([this] { perceive_loop(); });
  std::thread hearing([this] { hearing_.run(); });
  std::thread decoding([this] { decode_loop(); });
  ingest_loop();
  hearing.join();
  perceiving.join();
  decoding.join();
  if (parts_.place) parts_.place->close();
  parts_.emitter->finish();
  return outcome_;
}

void Wiring::ingest_loop() {
  constexpr std::chrono::milliseconds kTick{20};
  while (!stopping_) {
    auto item = parts_.intake->next(kTick);
    renew_knobs(knobs_, steered_.take_knobs(), parts_.place.get(), *parts_.emitter);
    parts_.intake->set_key_pictures_only(knobs_->key_pictures_only);
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
  hearing_.close();
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

void Wiring::on_busy(const align::Moment& lost) {
  settle(lost, ingest::PushEnd::kBusy);
  parts_.emitter->on_drop(emit::DropReason::kBusy, lost.time);
}

void Wiring::on_late(const align::Moment& lost) {
  settle(lost, ingest::PushEnd::kLate);
  parts_.emitter->on_drop(emit::DropReason::kLate, lost.time);
}

// The two senses of a Moment part here: sound goes its own way, at its own pace.
void Wiring::on_moments(std::vector<align::Moment> moments) {
  for (align::Moment& moment : moments) {
    for (ingest::Frame& sound : moment.sound) hearing_.put(std::move(sound));
    moment.sound.clear();
    if (moment.picture) moments_.put(std::move(moment));
  }
}

void Wiring::perceive_loop() {
  const auto late = [this](const align::Moment& lost) { on_late(lost); };
  while (auto next = next_moment(moments_, parts_.place.get(), late)) {
    perceive(std::move(*next));
  }
  if (const auto last = parts_.perceiver.finish()) parts_.emitter->on_percept(*last);
  asked_.close();
}

void Wiring::perceive(TurnedMoment next) {
  parts_.emitter->summary().count_seen();
  if (const ingest::Picture* picture = next.moment.picture->picture();
      picture && options_.askable) {
    shown_.show(picture->pixels.view(), next.moment.time);
  }
  perceive::Percept percept = parts_.perceiver.see(std::move(next.moment));
  settle(percept.moment, ingest::PushEnd::kSeen);
  // New questions are asked about what stands, too.
  if (auto prompts = steered_.take_prompts()) {
    if (parts_.attender.set_prompts(std::move(*prompts)).ok()) percept.unchanged = false;
  }
  if (!parts_.lines_first) attend(percept, std::move(next.turn));
  parts_.perceiver.read(percept);
  if (parts_.lines_first) attend(percept, std::move(next.turn));
  parts_.emitter->on_percept(percept);
  for (const core::Error& fault : parts_.perceiver.take_faults()) parts_.emitter->on_error(fault);
}

void Wiring::attend(const perceive::Percept& percept, Governor::Turn turn) {
  while (auto line = hearing_.take_line()) parts_.attender.note_speech(std::move(*line));
  if (!parts_.decoder || percept.views.empty()) return;
  steered_.show(parts_.attender.window(percept));
  if (percept.unchanged) return;
  auto foci = parts_.attender.attend(percept);
  if (foci.empty()) return;
  const governor::StepShape shape = shape_of(percept, foci);
  asked_.put({std::move(foci), std::move(turn), shape});
}

void Wiring::decode_loop() {
  while (auto asked = asked_.take()) {
    if (stopping_) continue;
    answer_all(*asked,
               {.decoder = *parts_.decoder, .emitter = *parts_.emitter, .seating = parts_.seating},
               {.answer = 0, .sampling = options_.sampling, .stops = options_.stops}, answers_);
  }
}

void Wiring::stop() {
  stopping_ = true;
  if (parts_.place) parts_.place->close();
  parts_.intake->close();
}

}  // namespace saccade::session
