#include "perceive/perceive_types.h"

namespace saccade::perceive {

std::string Utterance::text() const {
  std::string joined;
  for (const SpokenWord& word : words) joined += word.text;
  const auto begin = joined.find_first_not_of(' ');
  return begin == std::string::npos ? std::string() : joined.substr(begin);
}

}  // namespace saccade::perceive
