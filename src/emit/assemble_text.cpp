#include "emit/assemble_text.h"

#include "emit/utf8.h"

namespace saccade::emit {

namespace {
constexpr std::string_view kReplacementBytes = "\xEF\xBF\xBD";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
}  // namespace

std::string TextAssembler::push(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + 3);
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (held_bytes_ == 0) {
      begin(byte, out);
      continue;
    }
    if (byte < low_ || byte > high_) {
      held_bytes_ = 0;
      deliver(kReplacementBytes, out);
      begin(byte, out);
      continue;
    }
    low_ = 0x80;
    high_ = 0xBF;
    held_[held_bytes_++] = c;
    if (held_bytes_ == needed_bytes_) {
      deliver(std::string_view(held_.data(), held_bytes_), out);
      held_bytes_ = 0;
    }
  }
  return out;
}

std::string TextAssembler::finish() {
  std::string out;
  if (held_bytes_ > 0) deliver(kReplacementBytes, out);
  *this = TextAssembler();
  return out;
}

// Table 3-7 of the Unicode standard: the range of the second byte rules out overlong forms,
// surrogates and code points above U+10FFFF.
void TextAssembler::begin(std::uint8_t byte, std::string& out) {
  const char c = static_cast<char>(byte);
  if (byte < 0x80) return deliver(std::string_view(&c, 1), out);
  if (byte < 0xC2 || byte > 0xF4) return deliver(kReplacementBytes, out);
  needed_bytes_ = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  low_ = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;
  high_ = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF;
  held_[0] = c;
  held_bytes_ = 1;
}

void TextAssembler::deliver(std::string_view character, std::string& out) {
  const bool mark = at_start_ && character == kByteOrderMark;
  at_start_ = false;
  if (!mark) out.append(character);
}

}  // namespace saccade::emit
