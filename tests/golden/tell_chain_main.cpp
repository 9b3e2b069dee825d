// Tells the events of a scripted stream, align to emit, on stdout: real rooms, stand-ins for the
// models, a clock that moves only where the script says what something costs. The same lines every
// time; golden.py compares them with chain.jsonl. One thread calls the rooms in the order in which
// session/wiring.cpp joins them.
#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "align/align.h"
#include "attend/attend.h"
#include "decode/decode.h"
#include "decode/fake_language_model.h"
#include "emit/emitter.h"
#include "fake_text_sense.h"
#include "perceive/hear/fake_speech_model.h"
#include "perceive/hear/hear.h"
#include "perceive/perceive.h"
#include "perceive/see/fake_encoder.h"
#include "perceive/see/test_picture.h"
#include "transport/event_json.h"

namespace saccade::golden {
namespace {

constexpr std::int64_t kEndMs = 12'000,
                       kEpochMs = 7'000;  // of the stream; the second epoch's begin
constexpr std::int64_t kPictureMs = 200, kBlockMs = 20;
constexpr std::int64_t kEncodeUs = 31'000, kTokenUs = 4'000;

struct Printed final : emit::EventSink {
  void on_event(const emit::Event& event) override {
    std::cout << transport::to_json(event) << '\n';
  }
};

class SlowEncoder final : public perceive::FakeEncoder {
 public:
  explicit SlowEncoder(core::ManualClock& clock) : clock_(clock) {}
  core::Result<engine::EncodedViewPtr> encode(const core::PixelView& view,
                                              engine::ViewPlace place) override {
    clock_.advance_us(kEncodeUs);
    return FakeEncoder::encode(view, place);
  }

 private:
  core::ManualClock& clock_;
};

// What the script shows, says and lets the model answer at one time.
struct Span {
  std::int64_t from_ms, until_ms;
  bool holds(std::int64_t ms) const { return ms >= from_ms && ms < until_ms; }
};
struct ShownText {
  Span span;
  int text;
  core::Rect place;
};
struct SaidWord {
  std::int64_t from_ms;
  int word;
};

const std::vector<std::string> kTexts = {"PUMP 3 OK", "PUMP 3 LOW", "DOOR 7 OPEN"};
constexpr std::array kShown = {ShownText{{600, 3'000}, 0, {40, 30, 120, 16}},
                               ShownText{{3'000, 5'000}, 1, {40, 30, 130, 16}},
                               ShownText{{7'400, 11'000}, 2, {180, 120, 110, 16}}};
constexpr Span kLamp = {2'000, 4'000}, kNight = {0, 5'000}, kBlind = {7'400, 7'600};
// The last group is heard while it is spoken, and not any more at its end.
constexpr std::array kSaid = {SaidWord{1'000, 0}, SaidWord{1'400, 1}, SaidWord{1'800, 2},
                              SaidWord{5'500, 3}, SaidWord{5'900, 4}, SaidWord{8'000, 5},
                              SaidWord{8'400, 6}, SaidWord{8'800, 7}};
constexpr std::int64_t kWordMs = 300, kDeafMs = 9'200;

core::MediaTime time_at(std::int64_t ms) {
  return core::MediaTime::from_us(ms * 1000, ms < kEpochMs ? 0 : 1);
}

ingest::Frame picture_at(std::int64_t ms) {
  perceive::TestPicture shown(320, 180, kNight.holds(ms) ? 40 : 190);
  if (kLamp.holds(ms)) shown.fill({240, 40, 40, 40}, {220, 30, 30});
  for (const ShownText& text : kShown) {
    if (text.span.holds(ms)) shown.fill(text.place, {red_of(text.text), 20, 255});
  }
  ingest::Frame frame;
  frame.time = time_at(ms);
  frame.payload = ingest::Picture{.pixels = shown.pixels()};
  return frame;
}

ingest::Frame sound_at(std::int64_t ms) {
  float level = 0;
  for (const SaidWord& said : kSaid) {
    if (Span{said.from_ms, said.from_ms + kWordMs}.holds(ms)) {
      level = perceive::fake_level(said.word);
    }
  }
  ingest::Frame frame;
  frame.time = time_at(ms);
  frame.duration = core::MediaDuration::from_ms(kBlockMs);
  frame.payload = ingest::Sound{
      std::vector<float>(static_cast<std::size_t>(core::limits::kAudioBlockSamples), level), false};
  return frame;
}

attend::AttendOptions prompts() {
  using Kind = attend::StandingPrompt::Kind;
  attend::AttendOptions options;
  options.prompts = {{Kind::kAnswer, "caption", "What do you see?"},
                     {Kind::kAlert, "alert-1", "Is the lamp on?"}};
  return options;
}

class Chain {
 public:
  Chain()
      : emitter_(
            emit::Emitter::create({.stops = {"###"}, .filter_words = {"secret"}}, printed_, clock_)
                .value()),
        attender_(attend::Attender::make(prompts()).value()) {
    clock_.advance_us(1'000'000);
  }

  void run() {
    emitter_->on_state({ingest::SourceState::kUp, ""});
    emitter_->on_knobs(*knobs_);
    for (std::int64_t ms = 0; ms < kEndMs; ms += kBlockMs) {
      if (ms % kPictureMs == 0) take(picture_at(ms));
      take(sound_at(ms));
      if (ms == 4'100) take(picture_at(3'700));  // comes too late
      if (ms == 6'000) emitter_->on_loss({ingest::LossKind::kCorrupt, time_at(ms), 3});
      clock_.advance_us(kBlockMs * 1000);
    }
    go_on(aligner_.flush());
    tell_speech(listener_.flush().value());
    if (const auto last = perceiver_.finish()) emitter_->on_percept(*last);
    emitter_->finish();
    emitter_->on_stats({.wall_seconds = 6});
  }

 private:
  void take(ingest::Frame frame) {
    frame.captured = clock_.now();
    go_on(aligner_.push(std::move(frame), knobs_));
    if (const auto late = aligner_.take_late()) emitter_->on_loss(*late);
  }

  void go_on(std::vector<align::Moment> moments) {
    for (align::Moment& moment : moments) {
      for (const ingest::Frame& sound : std::exchange(moment.sound, {})) hear(sound);
      if (moment.picture) look(std::move(moment));
    }
  }

  void hear(const ingest::Frame& sound) {
    speech_.deaf = sound.time.us() >= kDeafMs * 1000;
    now_ = sound.time;
    tell_speech(listener_.push(sound, *knobs_).value());
  }

  void tell_speech(std::vector<perceive::Utterance> heard) {
    if (heard.empty()) return;
    perceive::Percept percept;
    percept.moment.time = now_;
    percept.speech = std::move(heard);
    emitter_->on_percept(percept);
    for (const auto& utterance : percept.speech) {
      if (utterance.final) attender_.note_speech(utterance);
    }
  }

  void look(align::Moment moment) {
    emitter_->summary().count_seen();
    encoder_.fail = kBlind.holds(moment.time.us() / 1000);
    perceive::Percept percept = perceiver_.see(std::move(moment));
    perceiver_.read(percept);
    for (attend::Focus& focus : attender_.attend(percept)) answer(focus);
    emitter_->on_percept(percept);
    for (const core::Error& fault : perceiver_.take_faults()) emitter_->on_error(fault);
  }

  void answer(attend::Focus& focus) {
    const std::int64_t ms = focus.time.us() / 1000;
    language_.scores = {{"Yes", std::log(kLamp.holds(ms) ? 0.9F : 0.2F)},
                        {"No", std::log(kLamp.holds(ms) ? 0.1F : 0.8F)}};
    // A character over two tokens, a word of the filter list, a stop string over two tokens.
    language_.pieces = kLamp.holds(ms) ? std::vector<std::string>{" A red ", "\xF0\x9F", "\x94\xB4"}
                       : kNight.holds(ms) ? std::vector<std::string>{" A secret", " room."}
                                          : std::vector<std::string>{" Daylight.", " #", "## no"};
    if (focus.prompt.kind == attend::StandingPrompt::Kind::kAlert) {
      emitter_->on_verdict(focus, decoder_.judge(focus).value());
      return;
    }
    if (!emitter_->begin_answer(++answers_, focus)) return;
    (void)decoder_.answer(focus, {.answer = answers_, .sampling = {}, .stops = {"###"}},
                          [&](const decode::Token& token) {
                            clock_.advance_us(kTokenUs);
                            return emitter_->on_token(token);
                          });
  }

  core::ManualClock clock_;
  Printed printed_;
  SlowEncoder encoder_{clock_};
  perceive::TextReader reader_{std::make_unique<FakeTextSense>(kTexts),
                               perceive::kTextConfidenceMin};
  perceive::FakeSpeechModel speech_;
  perceive::FakeVoiceDetector voice_;
  decode::FakeLanguageModel language_;

  const core::KnobsPtr knobs_ = std::make_shared<core::Knobs>();
  align::Aligner aligner_{{}, clock_};
  perceive::Perceiver perceiver_{&encoder_, &reader_, clock_};
  perceive::Listener listener_{speech_, voice_};
  std::unique_ptr<emit::Emitter> emitter_;
  attend::Attender attender_;
  decode::Decoder decoder_{language_, clock_};
  std::uint64_t answers_ = 0;
  core::MediaTime now_;
};

}  // namespace
}  // namespace saccade::golden

int main() { saccade::golden::Chain().run(); }
