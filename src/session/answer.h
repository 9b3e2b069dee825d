#pragma once
// The way from one Focus to its events: decode's tokens or verdict into the emitter. Shared by
// standing prompts and one-off questions. Thread: any one; with a device its turn is waited for.
#include <cstdint>
#include <functional>
#include <vector>

#include "attend/attend_types.h"
#include "decode/decode.h"
#include "emit/emitter.h"
#include "session/device.h"
#include "session/govern.h"

namespace saccade::session {

struct AnswerWay {
  decode::Decoder& decoder;
  emit::Emitter& emitter;
  Seating seating = {};
  // Sees every token before its text; false cancels. May be empty.
  std::function<bool(const decode::Token&)> on_token = {};
};

// The questions about one Moment, and the turn in which they are answered.
struct Asked {
  std::vector<attend::Focus> foci;
  Governor::Turn turn;
  governor::StepShape shape;
};

// One after the other; the turn ends with `asked`. `answers` counts up: the number of the next one.
void answer_all(Asked& asked, AnswerWay way, decode::AnswerOptions options, std::uint64_t& answers);

// A failed answer is told as an event and its error given back; a stream goes on.
core::Status answer(attend::Focus& focus, const AnswerWay& way,
                    const decode::AnswerOptions& options);

}  // namespace saccade::session
