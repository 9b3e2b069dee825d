#pragma once
// From the recogniser's columns to a line: joining pieces of a wide line, collapsing repeats,
// cleaning characters, confidence. Pure functions.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "perceive/read/text_sense.h"

namespace saccade::perceive {

inline constexpr int kCtcBlank = 0;

// The best class of one column of the recogniser's output.
struct CtcStep {
  int symbol = kCtcBlank;
  float probability = 0;
};

// Joins two looks at one wide line whose last and first `overlap` columns show the same pixels. The
// seam is put where both see a gap, as near to the middle of the overlap as there is one.
std::vector<CtcStep> join_steps(std::span<const CtcStep> left, std::span<const CtcStep> right,
                                int overlap);

// Collapses repeats, drops blanks, looks characters up (`symbols[0]` is the blank), and drops
// control characters, outer spaces and what is no valid UTF-8. Stops at kTextLineBytesMax.
std::vector<ReadCharacter> decode_ctc(std::span<const CtcStep> steps,
                                      std::span<const std::string> symbols);

// Whether `bytes` is exactly one well-formed UTF-8 character that may be shown: no control
// character, no surrogate, no direction override.
bool printable_character(std::string_view bytes);

// How likely the whole line is right to the letter, 0..1, calibrated, from the probabilities of its
// characters. At most 0.96 for a lone character.
float line_confidence(std::span<const ReadCharacter> characters);

}  // namespace saccade::perceive
