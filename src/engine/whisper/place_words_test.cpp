#include "engine/whisper/place_words.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace saccade::engine {
namespace {

using Ids = std::vector<std::int32_t>;

// Sound of `seconds`, loud in each of the given stretches.
std::vector<float> sound(double seconds, const std::vector<std::pair<double, double>>& loud) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * 16000), 0.0F);
  for (const auto& [begin, end] : loud)
    for (auto i = static_cast<std::size_t>(begin * 16000);
         i < static_cast<std::size_t>(end * 16000); ++i)
      samples[i] = 0.3F * std::sin(0.2F * static_cast<float>(i));
  return samples;
}

TEST(PlaceWords, JoinsTokensAtSpacesAndCutsPausesAway) {
  const auto words = place_words(
      {{1, " Val", 0.6, 0.8F}, {2, "ve", 1.0, 0.2F}, {3, ",", 1.2, 0.9F}, {4, " open", 2.4, 1.0F}},
      sound(3.0, {{0.5, 1.0}, {2.0, 2.3}}));
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0].text, " Valve,");
  EXPECT_NEAR(words[0].start, 0.5, 0.02);
  EXPECT_NEAR(words[0].end, 1.0, 0.02);
  EXPECT_NEAR(words[0].probability, 0.4, 1e-3) << "geometric mean, punctuation left out";
  EXPECT_EQ(words[1].text, " open");
  EXPECT_NEAR(words[1].start, 2.0, 0.02) << "the pause belongs to no word";
  EXPECT_NEAR(words[1].end, 2.3, 0.02);
}

TEST(PlaceWords, TimesNeverStepBackNorLeaveTheClip) {
  const auto words = place_words(
      {{1, " a", 0.9, 1.0F}, {2, " b", 0.4, 1.0F}, {3, " c", 7.0, 1.0F}, {4, " d", -1.0, 1.0F}},
      sound(1.0, {{0.0, 1.0}}));
  ASSERT_EQ(words.size(), 4U);
  double before = 0;
  for (const HeardWord& word : words) {
    EXPECT_GE(word.start, before);
    EXPECT_GE(word.end, word.start);
    EXPECT_LE(word.end, 1.0);
    before = word.end;
  }
}

TEST(PlaceWords, PunctuationAloneAndBrokenCharactersAreNoWords) {
  EXPECT_TRUE(place_words({{1, " ...", 0.5, 1.0F}, {2, " -", 0.6, 1.0F}, {3, " \u266A", 0.9, 1.0F}},
                          sound(1.0, {{0.0, 1.0}}))
                  .empty());
  // A character split over two tokens is whole again; half of one is left out.
  const auto words = place_words(
      {{1, " caf\xC3", 0.4, 1.0F}, {2, "\xA9", 0.5, 1.0F}, {3, " x\xE2\x82", 0.9, 1.0F}},
      sound(1.0, {{0.0, 1.0}}));
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0].text, " caf\xC3\xA9");
  EXPECT_EQ(words[1].text, " x");
}

TEST(PlaceWords, AWordWithoutSoundIsInvented) {
  const auto words =
      place_words({{1, " yes", 0.5, 1.0F}, {2, " you", 1.9, 0.9F}}, sound(2.0, {{0.1, 0.5}}));
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].text, " yes");
}

TEST(PlaceWords, NothingHeardGivesNothing) {
  EXPECT_TRUE(place_words({}, sound(1.0, {})).empty());
  EXPECT_TRUE(place_words({}, {}).empty());
}

TEST(Loops, KeepsTheFirstCopyOfALoopAtTheEnd) {
  EXPECT_EQ(length_without_loop({5, 6, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}), 6U);
  // Also when the last copy is not complete.
  EXPECT_EQ(length_without_loop({9, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2}), 5U);
  EXPECT_EQ(length_without_loop(Ids(20, 7)), 1U);
}

TEST(Loops, OrdinaryRepetitionIsSpeech) {
  const Ids no_no_no{7, 1, 7, 1, 7, 1};
  EXPECT_EQ(length_without_loop(no_no_no), no_no_no.size());
  const Ids twice{1, 2, 3, 4, 1, 2, 3, 4};
  EXPECT_EQ(length_without_loop(twice), twice.size());
  const Ids refrain{1, 2, 3, 9, 1, 2, 3, 8, 1, 2, 3, 7};
  EXPECT_EQ(length_without_loop(refrain), refrain.size());
  EXPECT_EQ(length_without_loop({}), 0U);
}

}  // namespace
}  // namespace saccade::engine
