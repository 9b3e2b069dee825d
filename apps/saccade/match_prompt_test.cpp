#include "match_prompt.h"

#include <gtest/gtest.h>

namespace saccade::app {
namespace {

TEST(MatchPrompt, CaseAndPunctuationDoNotCount) {
  EXPECT_TRUE(is_of_kind("what do you see", "What do you see?"));
  EXPECT_TRUE(is_of_kind("  What  do you\nsee ?!", "What do you see?"));
  EXPECT_FALSE(is_of_kind("What do you see there?", "What do you see?"));
  EXPECT_FALSE(is_of_kind("", "What do you see?"));
}

TEST(MatchPrompt, APlaceIsOneToFourWords) {
  EXPECT_TRUE(is_of_kind("What color is the circle?", "What color is the {shape}?"));
  EXPECT_TRUE(is_of_kind("What is at the top left corner?", "What is at the {place}?"));
  EXPECT_FALSE(is_of_kind("What is at the?", "What is at the {place}?"));
  EXPECT_FALSE(is_of_kind("What is at the end of all these words?", "What is at the {place}?"));
  EXPECT_TRUE(is_of_kind("How many circles are there?", "How many {shape}s are there?"));
  EXPECT_FALSE(is_of_kind("How many s are there?", "How many {shape}s are there?"));
  EXPECT_TRUE(is_of_kind("Is there a light blue circle?", "Is there a {color} {shape}?"));
  EXPECT_TRUE(is_of_kind("Is the level above 40%?", "Is the level above {number}%?"));
}

TEST(MatchPrompt, TheNoteNamesThePromptAndANextStep) {
  const std::vector<std::string> kinds = {"What do you see?", "Read the sign."};
  EXPECT_EQ("", note_on_prompt("Read the sign", kinds));
  EXPECT_EQ("", note_on_prompt("Who is this?", {}));
  const std::string note = note_on_prompt("Who is this?", kinds);
  EXPECT_NE(note.npos, note.find("Who is this?"));
  EXPECT_NE(note.npos, note.find("pull"));
}

}  // namespace
}  // namespace saccade::app
