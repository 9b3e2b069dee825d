#include "perceive/read/vote_text.h"

#include <gtest/gtest.h>

namespace saccade::perceive {
namespace {

// One look; `doubtful` characters get the low probability.
LineReading look(const std::string& text, float probability = 0.95F,
                 const std::string& doubtful = "", float low = 0.4F) {
  LineReading reading;
  for (const char c : text) {
    const bool doubt = doubtful.find(c) != std::string::npos;
    reading.characters.push_back(ReadCharacter{std::string(1, c), doubt ? low : probability});
  }
  reading.confidence = probability;
  return reading;
}

TEST(TextVote, TwoGoodLooksOutvoteABadOne) {
  TextVote vote(look("PUNP 1", 0.6F));
  vote.add(look("PUMP 1"));
  EXPECT_EQ(vote.text(), "PUMP 1");
}

TEST(TextVote, ALostAndAnInventedCharacterAreOutvoted) {
  TextVote vote(look("LEVEL 62 %"));
  vote.add(look("LEVE 62 %"));
  vote.add(look("LEVEL! 62 %"));
  EXPECT_EQ(vote.text(), "LEVEL 62 %");
}

TEST(TextVote, AConfidentWrongLookLosesAgainstTwoThatAgree) {
  TextVote vote(look("GATE B12", 0.7F));
  vote.add(look("GATE 812", 0.99F));
  vote.add(look("GATE B12", 0.7F));
  EXPECT_EQ(vote.text(), "GATE B12");
}

TEST(TextVote, BlurredLooksWeighLess) {
  LineReading blurred = look("FL0W", 0.9F);
  blurred.focus = 0.1F;
  TextVote vote(blurred);
  vote.add(blurred);
  vote.add(look("FLOW", 0.9F));
  EXPECT_EQ(vote.text(), "FLOW");
}

TEST(TextVote, AgreementKeepsConfidenceAndDisagreementLowersIt) {
  TextVote agreed(look("AB", 0.9F));
  agreed.add(look("AB", 0.9F));
  EXPECT_NEAR(agreed.characters()[1].probability, 0.9, 0.01);
  TextVote split(look("AB", 0.9F));
  split.add(look("AC", 0.85F));
  EXPECT_LT(split.characters()[1].probability, 0.6F);
}

TEST(TextVote, SureDifferenceIsOtherTextDoubtfulDifferenceIsNot) {
  const TextVote vote(look("TEMP 73.5 C"));
  EXPECT_TRUE(vote.contradicts(look("TEMP 74.1 C")));
  EXPECT_FALSE(vote.contradicts(look("TEMP 73.5 C")));
  EXPECT_FALSE(vote.contradicts(look("TEMP 78.5 C", 0.95F, "8")));
  EXPECT_TRUE(vote.contradicts(look("TEMP 173.5 C")));
  EXPECT_TRUE(vote.contradicts(look("TEMP 3.5 C")));
}

TEST(TextVote, SpacesAndSmallMarksThatComeAndGoAreTheSameText) {
  const TextVote vote(look("DOOR 4: OPEN"));
  EXPECT_FALSE(vote.contradicts(look("DOOR 4 OPEN")));
  EXPECT_FALSE(vote.contradicts(look("DOOR4: OPEN")));
}

TEST(TextVote, StaysBounded) {
  TextVote vote;
  const std::string longest(1000, 'x');
  for (int i = 0; i < 5; ++i)
    vote.add(look(longest + std::string(600, static_cast<char>('a' + i))));
  EXPECT_LE(vote.characters().size(), kVoteColumnsMax);
}

TEST(TextVote, EmptyLooksAreHarmless) {
  TextVote vote;
  vote.add(look(""));
  EXPECT_EQ(vote.text(), "");
  EXPECT_FALSE(vote.contradicts(look("")));
}

TEST(TextSimilarity, IgnoresSpacesAndCountsEdits) {
  EXPECT_DOUBLE_EQ(text_similarity(look("A B").characters, look("AB").characters), 1.0);
  EXPECT_DOUBLE_EQ(text_similarity(look("ABCD").characters, look("ABXD").characters), 0.75);
  EXPECT_DOUBLE_EQ(text_similarity({}, {}), 1.0);
  EXPECT_DOUBLE_EQ(text_similarity(look("AB").characters, {}), 0.0);
}

}  // namespace
}  // namespace saccade::perceive
