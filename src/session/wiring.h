#pragma once
// The pipeline of one stream: which stage feeds which, on which thread. The picture is in
// wiring.cpp; everything a stage knows stays in its own room.
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "align/align.h"
#include "attend/attend.h"
#include "decode/decode.h"
#include "emit/emitter.h"
#include "perceive/hear/hear.h"
#include "perceive/perceive.h"
#include "session/answer.h"
#include "session/govern.h"
#include "session/handoff.h"
#include "session/hearing.h"
#include "session/intake.h"
#include "session/session.h"
#include "session/steer.h"

namespace saccade::session {

// Every part is built by Session::open; here they are only joined.
struct Parts {
  std::unique_ptr<Governor> own_governor;  // of a stream that has the device to itself
  std::unique_ptr<Governor::Place> place;  // null = not governed
  std::unique_ptr<Intake> intake;
  std::unique_ptr<emit::Emitter> emitter;
  align::Aligner aligner;
  perceive::Perceiver perceiver;
  std::optional<perceive::Listener> listener;  // without one nothing is heard
  attend::Attender attender;
  std::optional<decode::Decoder> decoder;  // without one no prompt is answered
  Seating seating;                         // when the language model is shared
  bool lines_first = false;                // prompts hold screen text: read before attending
};

class Wiring {
 public:
  Wiring(Parts parts, const SessionOptions& options, const core::Clock& clock);

  // Blocks until the source has ended or stop(). Errors: those of Source::next that end a stream.
  core::Status run();
  void stop();
  // As in Session.
  core::Status ask(const QuestionOptions& options, const SessionModels& models,
                   const QuestionContext& context) const {
    return steered_.ask(options, models, context);
  }
  core::Status steer(Steering steering) {
    return steered_.put(std::move(steering), parts_.decoder.has_value(), parts_.place.get());
  }
  ShownPicturePtr shown() const { return shown_.take(); }
  // Newest media time taken in; unset before the first frame.
  core::MediaTime position() const {
    const std::int64_t us = position_us_;
    return us == core::MediaTime().us() ? core::MediaTime() : core::MediaTime::from_us(us);
  }

 private:
  void ingest_loop();
  void perceive_loop();
  void decode_loop();

  void on_item(ingest::SourceItem item);
  void on_busy(const align::Moment& lost);
  void on_late(const align::Moment& lost);
  void on_moments(std::vector<align::Moment> moments);
  void perceive(TurnedMoment next);
  void attend(const perceive::Percept& percept, Governor::Turn turn);

  Parts parts_;
  const SessionOptions& options_;
  const core::Clock& clock_;
  core::KnobsPtr knobs_;  // of Moments made from now on; ingest thread only

  Handoff<align::Moment> moments_;  // ingest -> perceive
  Handoff<Asked> asked_;            // perceive -> decode

  Hearing hearing_;
  Steered steered_;

  PictureWindow shown_;  // perceive thread shows
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> position_us_;
  core::Status outcome_;       // ingest thread only, read after it ended
  std::uint64_t answers_ = 0;  // decode thread only
};

}  // namespace saccade::session
