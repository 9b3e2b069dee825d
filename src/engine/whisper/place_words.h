#pragma once
// From the decoder's tokens to words with times. Pure.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/speech_model.h"

namespace saccade::engine {

struct HeardToken {
  std::int32_t id = 0;
  std::string bytes;  // with its leading space when it begins a word; may be part of a character
  double end = 0;     // seconds from the start of the samples: when the token had been spoken
  float probability = 0;
};

// Joins tokens to words at leading spaces. A word begins where the one before ended and is then
// narrowed to where `samples` [n] (16 kHz) are not quiet. Times are inside the samples and never
// step back; punctuation extends no word. Bytes that are no UTF-8 are left out, and so are words
// without any letter or digit and words where there is no sound at all.
std::vector<HeardWord> place_words(const std::vector<HeardToken>& tokens,
                                   const std::vector<float>& samples);

// How many of `tokens` to keep when a stuck decoder says the same again and again: everything up to
// and with the first copy of a loop at the end, or all. Speech rarely repeats itself as often.
std::size_t length_without_loop(const std::vector<std::int32_t>& tokens);

}  // namespace saccade::engine
