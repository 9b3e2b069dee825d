#pragma once
// Bytes of tokens become whole characters. A token may end inside a code point; the rest comes with
// the next token, and nothing leaks before it is whole (corpus 26).
// Promise: any way of cutting the same bytes gives the same text. Bytes that are no UTF-8
// (overlong, surrogate, lone continuation, cut short) become one U+FFFD per maximal subpart, as the
// WHATWG decoder does. A byte order mark is dropped at the start and kept elsewhere. Limits: holds
// at most 3 bytes. Threads: one.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace saccade::emit {

class TextAssembler {
 public:
  // The text that became whole with these bytes; may be empty.
  std::string push(std::string_view bytes);
  // The stream has ended: a character cut short becomes U+FFFD. Ready for the next stream.
  std::string finish();

 private:
  void begin(std::uint8_t byte, std::string& out);
  void deliver(std::string_view character, std::string& out);

  std::array<char, 4> held_{};
  std::size_t held_bytes_ = 0, needed_bytes_ = 0;
  std::uint8_t low_ = 0x80, high_ = 0xBF;  // range of the next continuation byte
  bool at_start_ = true;
};

}  // namespace saccade::emit
