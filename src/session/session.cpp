#include "session/session.h"

#include <utility>

#include "session/build_parts.h"
#include "session/wiring.h"

namespace saccade::session {
namespace {

class WiredSession final : public Session {
 public:
  WiredSession(SessionOptions options, Parts parts, const core::Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        emitter_(*parts.emitter),
        wiring_(std::move(parts), options_, clock) {}

  core::Status run() override {
    const core::SteadyTime start = clock_.now();
    const core::Status outcome = wiring_.run();
    emit::RunSummary::Machine machine;
    machine.wall_seconds = core::ms_between(start, clock_.now()) / 1e3;
    if (options_.peak_memory_bytes) machine.peak_memory_bytes = options_.peak_memory_bytes();
    emitter_.on_stats(machine);
    return outcome;
  }
  void stop() override { wiring_.stop(); }
  core::MediaTime position() const override { return wiring_.position(); }
  ShownPicturePtr shown() const override { return wiring_.shown(); }
  core::Status steer(Steering steering) override { return wiring_.steer(std::move(steering)); }
  core::Status ask(const QuestionOptions& options, const SessionModels& models,
                   const QuestionContext& context) override {
    return wiring_.ask(options, models, context);
  }

 private:
  const SessionOptions options_;
  const core::Clock& clock_;
  emit::Emitter& emitter_;  // owned by the wiring
  Wiring wiring_;
};

}  // namespace

core::Result<std::unique_ptr<Session>> Session::open(SessionOptions options, SessionModels models,
                                                     emit::EventSink& sink,
                                                     const core::Clock& clock, core::Rng rng) {
  auto parts = build_parts(options, models, BuildContext{sink, clock, rng});
  if (!parts) return std::move(parts).error();
  return std::unique_ptr<Session>(
      std::make_unique<WiredSession>(std::move(options), std::move(parts).value(), clock));
}

}  // namespace saccade::session
