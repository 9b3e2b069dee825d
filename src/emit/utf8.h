#pragma once
// Code points in and out of UTF-8. For text that came through TextAssembler, which is always valid;
// on anything else decoding yields U+FFFD and always moves on, so loops end.
#include <cstddef>
#include <string>
#include <string_view>

namespace saccade::emit {

inline constexpr char32_t kReplacement = 0xFFFD;

// The code point at `at` (< text.size()), and `at` moved behind it.
char32_t next_code_point(std::string_view text, std::size_t& at);

void append_utf8(std::string& out, char32_t code_point);

bool is_valid_utf8(std::string_view text);

// Without U+FFFD for what is already valid; bad bytes are replaced once per maximal subpart.
std::string repair_utf8(std::string_view bytes);

}  // namespace saccade::emit
