#include "perceive/perceive_types.h"

namespace saccade::perceive {

std::string Utterance::text() const {
  std::string joined;
  for (const SpokenWord& word : words) joined += word.text;
  const auto start = joined.find_first_not_of(' ');
  return start == std::string::npos ? std::string() : joined.substr(start);
}

}  // namespace saccade::perceive
