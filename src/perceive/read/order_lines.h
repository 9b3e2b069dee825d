#pragma once
// Reading order: rows from top to bottom, inside a row from left to right. Two lines share a row
// when the middle of each lies within the height of the other. Pure.
#include <cstddef>
#include <span>
#include <vector>

#include "perceive/perceive_types.h"

namespace saccade::perceive {

// The indices of `boxes` in reading order.
std::vector<std::size_t> reading_order(std::span<const Quad> boxes);

}  // namespace saccade::perceive
