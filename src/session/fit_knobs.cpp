#include "session/fit_knobs.h"

#include <string>
#include <utility>

namespace saccade::session {
namespace {

// Only a still has neither a rate nor a length.
bool is_still(const ingest::SourceInfo& source) {
  return source.has_video && !source.has_audio && !source.live && source.fps == 0 &&
         source.duration.us() == 0;
}

}  // namespace

core::KnobsPtr fit_knobs(core::KnobsPtr knobs, const ingest::SourceInfo& source,
                         emit::Emitter& emitter) {
  constexpr std::int64_t kStill = core::limits::kReadPixelsStill;
  if (!is_still(source) || knobs->read_pixels_max == kStill) return knobs;
  auto fitted = std::make_shared<core::Knobs>(*knobs);
  ++fitted->version;
  fitted->read_pixels_max = kStill;
  emitter.on_knobs(*fitted);
  return fitted;
}

void renew_knobs(core::KnobsPtr& knobs, std::optional<core::Knobs> asked, Governor::Place* place,
                 emit::Emitter& emitter) {
  std::string rung;
  if (place) {
    if (asked) place->set_base(*asked);
    const auto published = place->take_knobs();
    asked = published ? std::optional(published->knobs) : std::nullopt;
    if (published) rung = governor::name_of(published->rung);
  }
  if (!asked) return;
  auto renewed = std::make_shared<core::Knobs>(*asked);
  renewed->version = knobs->version + 1;
  emitter.on_knobs(*renewed, rung);
  knobs = std::move(renewed);
}

}  // namespace saccade::session
