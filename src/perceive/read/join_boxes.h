#pragma once
// The detector's map has holes where words stand apart or a character stands alone. This puts the
// pieces of one line together again: boxes of like height on one axis with less than about a space
// between them. Weak boxes (below `score_min`) count only as the continuation of a strong one;
// those that continue nothing are dropped. Pure.
#include <vector>

#include "perceive/read/text_sense.h"

namespace saccade::perceive {

std::vector<FoundText> join_boxes(std::vector<FoundText> found, float score_min);

}  // namespace saccade::perceive
