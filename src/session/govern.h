#pragma once
// A stream's side of the governor: which terms it asks for, and its Moments one turn at a time.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "align/align_types.h"
#include "attend/attend_types.h"
#include "core/clock.h"
#include "core/result.h"
#include "governor/governor.h"
#include "perceive/perceive_types.h"
#include "session/handoff.h"
#include "session/session.h"

namespace saccade::session {

using governor::Governor;

// Errors: kUsage (policy, deadline).
core::Result<governor::Policy> policy_of(const Governing& asked, const Governor& governor);

// Errors: those of policy_of, kExhausted (the governor refuses).
core::Result<std::unique_ptr<Governor::Place>> join_governor(Governor& governor,
                                                             const SessionOptions& options,
                                                             const SessionModels& models);

// A Moment and the right to have it on the device.
struct TurnedMoment {
  align::Moment moment;
  Governor::Turn turn;
};

// The newest Moment once it is this stream's turn, so that waiting costs rate and not age; those
// too old to be answered in time are given to `on_late`. Without a place: the next Moment at once.
// Nothing when the stream has ended.
template <typename OnLate>
std::optional<TurnedMoment> next_moment(Handoff<align::Moment>& moments, Governor::Place* place,
                                        const OnLate& on_late) {
  while (moments.wait()) {
    std::optional<Governor::Turn> turn;
    if (place) {
      turn = place->take_turn();
    } else {
      turn.emplace();
    }
    auto moment = moments.take();
    if (!moment || !turn) return std::nullopt;
    if (turn->fits(moment->picture->captured))
      return TurnedMoment{std::move(*moment), std::move(*turn)};
    on_late(*moment);
  }
  return std::nullopt;
}

// What answering these questions about this picture asks of the device; the answers' length comes
// later.
governor::StepShape shape_of(const perceive::Percept& percept,
                             const std::vector<attend::Focus>& foci);

}  // namespace saccade::session
