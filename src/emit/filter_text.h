#pragma once
// Makes text fit for people and terminals, and hides words of a list.
// Cleaning: control characters, byte order marks, zero-width spaces and text-direction overrides
// go; every kind of space becomes one blank, line ends become \n, at most one empty line stays,
// nothing leads or trails. Joiners (U+200D) stay: emoji families need them. No Unicode composition
// (NFC). Hiding: whole words, without regard to case (Latin, Greek, Cyrillic), become as many
// asterisks. A word is a run of letters, digits, marks and '_'; scripts without spaces form one
// long word. Promise: any way of cutting the same text gives the same result. Limits:
// kFilterWordsMax words of kFilterWordLettersMax letters; holds back one word at most. Input must
// be whole UTF-8 (TextAssembler). Threads: one; the word list is shared and immutable.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/result.h"

namespace saccade::emit {

inline constexpr std::size_t kFilterWordsMax = 10'000;
inline constexpr std::size_t kFilterWordLettersMax = 64;

using FilterWords = std::shared_ptr<const std::unordered_set<std::u32string>>;
// Errors: kUsage (too many, too long, a separator inside). Empty lines are skipped.
core::Result<FilterWords> make_filter_words(const std::vector<std::string>& words);

class TextFilter {
 public:
  // `words` may be null: then only cleaning.
  explicit TextFilter(FilterWords words = nullptr) : words_(std::move(words)) {}

  std::string push(std::string_view text);
  // The text has ended: the word held back. Ready for the next text.
  std::string finish();

 private:
  void push_clean(char32_t code_point, std::string& out);
  void end_word(std::string& out);

  FilterWords words_;
  std::u32string word_;
  bool long_word_ = false;     // the running word is longer than any in the list
  bool after_return_ = false;  // so that \r\n is one line end
  bool started_ = false;
  bool blank_pending_ = false;
  int lines_pending_ = 0;
};

// The whole of one text at once.
std::string clean_text(std::string_view text, const FilterWords& words = nullptr);

}  // namespace saccade::emit
