#include "session/answer.h"

namespace saccade::session {

core::Status answer(attend::Focus& focus, decode::Decoder& decoder, emit::Emitter& emitter,
                    const decode::AnswerOptions& options) {
  if (focus.prompt.kind == attend::StandingPrompt::Kind::kAlert) {
    const auto verdict = decoder.judge(focus);
    if (verdict) {
      emitter.on_verdict(focus, *verdict);
      return {};
    }
    emitter.on_error(verdict.error(), focus.prompt.id);
    return verdict.error();
  }
  if (const auto begun = emitter.begin_answer(options.answer, focus); !begun) {
    emitter.on_error(begun.error(), focus.prompt.id);
    return begun;
  }
  return decoder.answer(focus, options,
                        [&](const decode::Token& token) { return emitter.on_token(token); });
}

}  // namespace saccade::session
