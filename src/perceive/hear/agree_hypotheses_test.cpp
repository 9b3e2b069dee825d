#include "perceive/hear/agree_hypotheses.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace saccade::perceive {
namespace {

using Words = Agreement::Words;

// One word per half second, from `start` on.
Words words(const std::string& text, double start = 0) {
  Words out;
  std::istringstream in(text);
  for (std::string word; in >> word; start += 0.5)
    out.push_back({" " + word, start, start + 0.4, 0.9F});
  return out;
}

std::string text(const Words& w) {
  std::string out;
  for (const auto& word : w) out += word.text;
  return out;
}

TEST(Agreement, CommitsWhatTwoHypothesesShare) {
  Agreement a;
  a.add(words("pump two is"));
  EXPECT_TRUE(a.committed().empty());
  EXPECT_EQ(text(a.tentative()), " pump two is");
  a.add(words("pump two was now"));
  EXPECT_EQ(text(a.committed()), " pump two");
  EXPECT_EQ(text(a.tentative()), " was now");
  a.add(words("pump two is now running"));
  EXPECT_EQ(text(a.committed()), " pump two") << "the two do not agree on the third word";
  a.add(words("pump two is now running"));
  EXPECT_EQ(text(a.committed()), " pump two is now running");
}

TEST(Agreement, CaseAndPunctuationDoNotCount) {
  Agreement a;
  a.add(words("Attention."));
  a.add(words("attention, please"));
  EXPECT_EQ(text(a.committed()), " attention,");
}

TEST(Agreement, AHypothesisMayBeginInsideTheCommittedWords) {
  Agreement a;
  a.add(words("one two three four five"));
  a.add(words("one two three four five"));
  a.add(words("four five six", 1.5));
  a.add(words("five six seven", 2.0));
  EXPECT_EQ(text(a.committed()), " one two three four five six");
  EXPECT_EQ(text(a.tentative()), " seven");
}

TEST(Agreement, RepeatedWordsAreToldApartByTime) {
  Agreement a;
  a.add(words("the end the end of"));
  a.add(words("the end the end off"));
  EXPECT_EQ(text(a.committed()), " the end the end");
  a.add(words("the end of the end", 1.0));
  EXPECT_EQ(text(a.tentative()), " of the end");
}

TEST(Agreement, FinishKeepsCommittedWordsWhateverTheLastHypothesisSays) {
  Agreement a;
  a.add(words("the lord is"));
  a.add(words("the lord was"));
  EXPECT_EQ(text(a.finish(words("the alarm is over"))), " the lord is over");
  EXPECT_EQ(text(a.finish({})), " the lord");
  // Same words: the last spelling wins.
  EXPECT_EQ(text(a.finish(words("The Lord, is over."))), " The Lord, is over.");
}

TEST(Agreement, ClearForgetsEverything) {
  Agreement a;
  a.add(words("one"));
  a.add(words("one"));
  a.clear();
  EXPECT_TRUE(a.committed().empty());
  EXPECT_EQ(text(a.finish(words("two"))), " two");
}

}  // namespace
}  // namespace saccade::perceive
