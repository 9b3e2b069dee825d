#include "match_prompt.h"

#include <algorithm>
#include <cctype>

namespace saccade::app {
namespace {

// Words in small letters; "{color}" stays one word.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (!word.empty()) out.push_back(std::move(word));
      word.clear();
    } else if (std::string_view(".,?!;:\"'").find(c) == std::string_view::npos) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

using Words = std::vector<std::string>;

// Kinds are short, so trying every length of a place is cheap.
bool fits(const Words& text, std::size_t at, const Words& kind, std::size_t part) {
  if (part == kind.size()) return at == text.size();
  const std::string& wanted = kind[part];
  const auto open = wanted.find('{'), close = wanted.find('}');
  const bool place = open != wanted.npos && close != wanted.npos && open < close;
  if (!place) return at < text.size() && text[at] == wanted && fits(text, at + 1, kind, part + 1);
  const std::string ending = wanted.substr(close + 1);
  for (std::size_t n = 1; n <= kPlaceWordsMax && at + n <= text.size(); ++n) {
    const std::string& last = text[at + n - 1];
    if (last.size() > ending.size() && last.ends_with(ending) &&
        fits(text, at + n, kind, part + 1)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_of_kind(std::string_view prompt, std::string_view kind) {
  return fits(words_of(prompt), 0, words_of(kind), 0);
}

std::string note_on_prompt(std::string_view prompt, const std::vector<std::string>& kinds) {
  const bool known = std::any_of(kinds.begin(), kinds.end(),
                                 [&](const std::string& kind) { return is_of_kind(prompt, kind); });
  if (known || kinds.empty()) return {};
  constexpr std::size_t kShownMax = 80;
  return "\"" + std::string(prompt.substr(0, kShownMax)) +
         "\" is no kind of question that this model was trained on: do not rely on the answer "
         "(`saccade models` lists the kinds; `saccade pull` gets a model for any question)";
}

}  // namespace saccade::app
