#include "emit/utf8.h"

#include <cstdint>

#include "emit/assemble_text.h"

namespace saccade::emit {

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(at++);
  if (lead < 0x80) return lead;
  const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  if (more == 0) return kReplacement;
  char32_t code = lead & (0x3FU >> more);
  for (std::size_t i = 0; i < more; ++i) {
    if (at >= text.size() || (byte(at) & 0xC0U) != 0x80U) return kReplacement;
    code = (code << 6) | (byte(at++) & 0x3FU);
  }
  return code > 0x10FFFF ? kReplacement : code;
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto put = [&](char32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) {
    code_point = kReplacement;
  }
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
  }
  put(0x80 | (code_point & 0x3F));
}

bool is_valid_utf8(std::string_view text) {
  // A byte order mark is valid too, but the assembler drops a leading one: look behind it.
  return text.starts_with("\xEF\xBB\xBF") ? is_valid_utf8(text.substr(3))
                                          : repair_utf8(text) == text;
}

std::string repair_utf8(std::string_view bytes) {
  TextAssembler assembler;
  std::string out = assembler.push(bytes);
  out += assembler.finish();
  return out;
}

}  // namespace saccade::emit
