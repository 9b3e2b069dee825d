#pragma once
// What was read and heard, as lines of plain text for the prompt. Each line is one quoted piece of
// content: line breaks and control characters inside it become spaces, so that text in the picture
// cannot pretend to be another line, and the language model's tokeniser treats control tokens in it
// as plain text.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.h"
#include "core/media_time.h"

namespace saccade::attend {

// `Text on screen: "..."` and `Heard: "..."`, each with a line break at its end. Content is cut at
// kTextLineBytesMax, at a whole character.
std::string screen_line(std::string_view text);
std::string heard_line(std::string_view text);

// A candidate for the prompt.
struct ContextLine {
  std::string text;       // ready to be shown
  core::MediaTime since;  // when it appeared or was said
};

// The newest `lines_max` of `lines`, in the order given. Of two equally old ones the later stays.
std::vector<std::string> newest_lines(std::vector<ContextLine> lines, std::size_t lines_max);

}  // namespace saccade::attend
