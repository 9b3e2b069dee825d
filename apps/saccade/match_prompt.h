#pragma once
// Does a prompt ask for something that a model was trained on? Models for which that is not clear
// say so themselves (GGUF key saccade.prompts).
#include <string>
#include <string_view>
#include <vector>

namespace saccade::app {

// `kind` is a sentence in which {words} stand for one to kPlaceWordsMax others. Case, punctuation
// and repeated blanks do not count.
inline constexpr std::size_t kPlaceWordsMax = 4;
bool is_of_kind(std::string_view prompt, std::string_view kind);

// One line that names the prompt; empty when it is of one of the kinds, or there are none.
std::string note_on_prompt(std::string_view prompt, const std::vector<std::string>& kinds);

}  // namespace saccade::app
