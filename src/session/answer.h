#pragma once
// The way from one Focus to its events: decode's tokens or verdict into the emitter. Shared by
// standing prompts and one-off questions. Thread: the language model's owner.
#include "attend/attend_types.h"
#include "decode/decode.h"
#include "emit/emitter.h"

namespace saccade::session {

// A failed answer is told as an event and its error given back; a stream goes on.
core::Status answer(attend::Focus& focus, decode::Decoder& decoder, emit::Emitter& emitter,
                    const decode::AnswerOptions& options);

}  // namespace saccade::session
