#pragma once
// Leaves out visual tokens of views by the knob keep_share: the salient ones stay where they stood,
// and so do all that lie under text on the screen. Pure.
#include <vector>

#include "core/knobs.h"
#include "perceive/perceive_types.h"

namespace saccade::attend {

// The same views with reduced tokens; views whose tokens are no grid stay whole. Cost: under a
// millisecond a view. `text` are boxes in source pixels.
std::vector<perceive::SeenView> reduce_views(const std::vector<perceive::SeenView>& views,
                                             const std::vector<perceive::TextTrack>& text,
                                             const core::Knobs& knobs);

// Visual tokens and wrappers of views before any reduction.
int whole_tokens(const std::vector<perceive::SeenView>& views);

}  // namespace saccade::attend
