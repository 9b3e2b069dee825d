#include "session/answer.h"

namespace saccade::session {

core::Status answer(attend::Focus& focus, const AnswerWay& way,
                    const decode::AnswerOptions& options) {
  const Device::Seat seat = way.seating.take();
  if (focus.prompt.kind == attend::StandingPrompt::Kind::kAlert) {
    const auto verdict = way.decoder.judge(focus);
    if (verdict) {
      way.emitter.on_verdict(focus, *verdict);
      return {};
    }
    way.emitter.on_error(verdict.error(), focus.prompt.id);
    return verdict.error();
  }
  if (const auto begun = way.emitter.begin_answer(options.answer, focus); !begun) {
    way.emitter.on_error(begun.error(), focus.prompt.id);
    return begun;
  }
  return way.decoder.answer(focus, options, [&](const decode::Token& token) {
    const bool wanted = !way.on_token || way.on_token(token);
    if (!wanted && token.finish == decode::FinishReason::kNone) return false;
    return way.emitter.on_token(token);
  });
}

void answer_all(Asked& asked, AnswerWay way, decode::AnswerOptions options,
                std::uint64_t& answers) {
  way.on_token = [&](const decode::Token&) {
    ++asked.shape.new_tokens;
    return true;
  };
  for (attend::Focus& focus : asked.foci) {
    options.answer = ++answers;
    // A failed answer was told as an event; the stream goes on.
    (void)answer(focus, way, options);
  }
  asked.turn.served(asked.shape, asked.foci.front().captured);
}

}  // namespace saccade::session
