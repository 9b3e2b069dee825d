#include "emit/filter_text.h"

#include <algorithm>

#include "emit/utf8.h"

namespace saccade::emit {

namespace {

bool is_blank(char32_t c) {
  return c == ' ' || c == '\t' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_line_end(char32_t c) {
  return c == '\n' || c == '\r' || c == '\v' || c == '\f' || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

// Nothing a reader sees, and some of it can turn a line around or hide a word from the list.
bool is_invisible(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x200B || c == 0x2060 ||
         c == 0xFEFF || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x206F) ||
         (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE0FFF);
}

bool is_word_letter(char32_t c) {
  if (c < 0x80) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  }
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  if (c == 0xD7 || c == 0xF7 || c == kReplacement) return false;
  return !(c >= 0x2000 && c <= 0x2BFF) && !(c >= 0x3000 && c <= 0x303F) &&
         !(c >= 0xFF00 && c <= 0xFF0F) && !(c >= 0xFF1A && c <= 0xFF20) &&
         (c < 0x1F000 || c >= 0x20000);
}

// Simple case folding of the alphabets that have two cases in one regular block.
char32_t fold(char32_t c) {
  if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7)) return c + 0x20;
  if ((c >= 0x100 && c <= 0x137) || (c >= 0x14A && c <= 0x177)) return c | 1U;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return c + (c & 1U);
  if ((c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F)) return c + 0x20;
  if (c >= 0x400 && c <= 0x40F) return c + 0x50;
  return c;
}

}  // namespace

core::Result<FilterWords> make_filter_words(const std::vector<std::string>& words) {
  const auto refuse = [](std::string what) {
    return core::error(core::ErrorCode::kUsage, std::move(what),
                       "write one word of letters and digits per line");
  };
  if (words.size() > kFilterWordsMax) {
    return refuse("the filter list has " + std::to_string(words.size()) + " words; at most " +
                  std::to_string(kFilterWordsMax));
  }
  std::unordered_set<std::u32string> out;
  for (const std::string& entry : words) {
    const std::string text = clean_text(repair_utf8(entry));
    std::u32string word;
    for (std::size_t at = 0; at < text.size();) {
      const char32_t c = next_code_point(text, at);
      if (!is_word_letter(c)) return refuse("'" + text + "' in the filter list is not one word");
      word.push_back(fold(c));
    }
    if (word.size() > kFilterWordLettersMax) {
      return refuse("'" + text + "' in the filter list has " + std::to_string(word.size()) +
                    " letters; at most " + std::to_string(kFilterWordLettersMax));
    }
    if (!word.empty()) out.insert(std::move(word));
  }
  return FilterWords(std::make_shared<const std::unordered_set<std::u32string>>(std::move(out)));
}

std::string TextFilter::push(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const bool joined = after_return_ && c == '\n';
    after_return_ = c == '\r';
    if (joined) continue;
    if (is_line_end(c)) {
      end_word(out);
      ++lines_pending_;
    } else if (is_blank(c)) {
      end_word(out);
      blank_pending_ = true;
    } else if (!is_invisible(c)) {
      push_clean(c, out);
    }
  }
  return out;
}

void TextFilter::push_clean(char32_t c, std::string& out) {
  if (word_.empty() && !long_word_) {
    if (started_ && lines_pending_ > 0) {
      out.append(lines_pending_ > 1 ? "\n\n" : "\n");
    } else if (started_ && blank_pending_) {
      out.push_back(' ');
    }
    lines_pending_ = 0;
    blank_pending_ = false;
  }
  started_ = true;
  const bool letter = is_word_letter(c);
  if (!letter) end_word(out);
  if (!letter || !words_ || long_word_) return append_utf8(out, c);
  word_.push_back(c);
  if (word_.size() > kFilterWordLettersMax) {
    for (const char32_t held : word_) append_utf8(out, held);
    word_.clear();
    long_word_ = true;
  }
}

void TextFilter::end_word(std::string& out) {
  long_word_ = false;
  if (word_.empty()) return;
  std::u32string folded = word_;
  std::transform(folded.begin(), folded.end(), folded.begin(), fold);
  const bool hide = words_ && words_->contains(folded);
  for (const char32_t c : word_) append_utf8(out, hide ? U'*' : c);
  word_.clear();
}

std::string TextFilter::finish() {
  std::string out;
  end_word(out);
  *this = TextFilter(std::move(words_));
  return out;
}

std::string clean_text(std::string_view text, const FilterWords& words) {
  TextFilter filter(words);
  std::string out = filter.push(text);
  out += filter.finish();
  return out;
}

}  // namespace saccade::emit
