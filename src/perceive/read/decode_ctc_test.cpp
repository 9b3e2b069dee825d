#include "perceive/read/decode_ctc.h"

#include <gtest/gtest.h>

#include "core/limits.h"

namespace saccade::perceive {
namespace {

const std::vector<std::string> kSymbols{"",     "a", "b", "\xC3\xA9", "\n", "\xE2\x80\xAE",
                                        "\xFF", " "};

std::vector<CtcStep> steps(std::initializer_list<int> symbols, float probability = 0.9F) {
  std::vector<CtcStep> out;
  for (const int symbol : symbols) out.push_back(CtcStep{symbol, probability});
  return out;
}

std::string text_of(const std::vector<ReadCharacter>& characters) {
  LineReading reading;
  reading.characters = characters;
  return reading.text();
}

TEST(DecodeCtc, CollapsesRepeatsAndKeepsDoublesSplitByABlank) {
  EXPECT_EQ(text_of(decode_ctc(steps({1, 1, 0, 1, 2, 2}), kSymbols)), "aab");
}

TEST(DecodeCtc, RepeatedColumnsKeepTheirBestProbability) {
  const std::vector<CtcStep> columns{{1, 0.4F}, {1, 0.8F}, {1, 0.5F}};
  const auto characters = decode_ctc(columns, kSymbols);
  ASSERT_EQ(characters.size(), 1U);
  EXPECT_FLOAT_EQ(characters[0].probability, 0.8F);
}

TEST(DecodeCtc, NothingGivesNothing) {
  EXPECT_TRUE(decode_ctc({}, kSymbols).empty());
  EXPECT_TRUE(decode_ctc(steps({0, 0, 0}), kSymbols).empty());
  EXPECT_FLOAT_EQ(line_confidence({}), 0.0F);
}

TEST(DecodeCtc, DropsControlCharactersOverridesBrokenBytesAndClassesOutOfRange) {
  EXPECT_EQ(text_of(decode_ctc(steps({1, 4, 5, 6, 99, -3, 3}), kSymbols)), "a\xC3\xA9");
}

TEST(DecodeCtc, ARepeatAfterADroppedCharacterDoesNotRaiseItsNeighbour) {
  const std::vector<CtcStep> columns{{1, 0.4F}, {4, 0.9F}, {4, 0.99F}};
  const auto characters = decode_ctc(columns, kSymbols);
  ASSERT_EQ(characters.size(), 1U);
  EXPECT_FLOAT_EQ(characters[0].probability, 0.4F);
}

TEST(DecodeCtc, OuterSpacesGoInnerOnesStay) {
  EXPECT_EQ(text_of(decode_ctc(steps({7, 1, 7, 2, 7}), kSymbols)), "a b");
}

TEST(DecodeCtc, ALineIsBoundedInBytes) {
  std::vector<CtcStep> columns;
  columns.reserve(5000);
  for (int i = 0; i < 5000; ++i) columns.push_back(CtcStep{i % 2 == 0 ? 3 : 1, 0.9F});
  const std::string text = text_of(decode_ctc(columns, kSymbols));
  EXPECT_LE(text.size(), core::limits::kTextLineBytesMax);
  EXPECT_GT(text.size(), core::limits::kTextLineBytesMax - 4);
}

TEST(LineConfidence, RisesWithEachCharacterAndFallsWithTheWorst) {
  const auto line = [](std::initializer_list<float> probabilities) {
    std::vector<ReadCharacter> out;
    for (const float p : probabilities) out.push_back(ReadCharacter{"a", p});
    return line_confidence(out);
  };
  EXPECT_GT(line({0.999F, 0.999F, 0.999F}), 0.97F);
  EXPECT_LT(line({0.999F, 0.4F, 0.999F}), 0.5F);
  EXPECT_GT(line({0.9F, 0.9F}), line({0.8F, 0.9F}));
  EXPECT_GT(line({0.99F, 0.99F}), line({0.99F})) << "a lone character is often a lamp";
  EXPECT_GE(line({0.0F}), 0.0F);
  EXPECT_LE(line({1.0F, 1.0F}), 1.0F);
}

TEST(PrintableCharacter, AcceptsOneShortestFormCharacterOnly) {
  EXPECT_TRUE(printable_character("a"));
  EXPECT_TRUE(printable_character(" "));
  EXPECT_TRUE(printable_character("\xE4\xB8\x80"));
  EXPECT_TRUE(printable_character("\xF0\x9F\x9A\xBC"));
  EXPECT_FALSE(printable_character(""));
  EXPECT_FALSE(printable_character("ab"));
  EXPECT_FALSE(printable_character("\x1B"));
  EXPECT_FALSE(printable_character("\xC2\x85"));          // C1 control
  EXPECT_FALSE(printable_character("\xC0\x80"));          // overlong
  EXPECT_FALSE(printable_character("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(printable_character("\xF4\x90\x80\x80"));  // beyond Unicode
  EXPECT_FALSE(printable_character("\xE2\x80"));          // cut off
  EXPECT_FALSE(printable_character("\xE2\x80\xA8"));      // line separator
}

TEST(JoinSteps, CutsInAGapSoThatNoCharacterIsDoubledOrLost) {
  // Both looks see "b" in the overlap, a column apart.
  const auto left = steps({1, 0, 0, 2, 0, 0, 0, 0});
  const auto right = steps({0, 0, 2, 0, 0, 0, 1, 0});
  EXPECT_EQ(text_of(decode_ctc(join_steps(left, right, 6), kSymbols)), "aba");
}

TEST(JoinSteps, WithoutAGapTheMiddleIsTheSeam) {
  const auto left = steps({1, 1, 1, 1}), right = steps({2, 2, 2, 2});
  EXPECT_EQ(text_of(decode_ctc(join_steps(left, right, 4), kSymbols)), "ab");
}

TEST(JoinSteps, AnOverlapLongerThanALookIsCutToIt) {
  EXPECT_EQ(join_steps(steps({1, 0}), steps({2}), 100).size(), 2U);
  EXPECT_EQ(join_steps({}, steps({2}), 3).size(), 1U);
  EXPECT_EQ(join_steps(steps({1}), steps({2}), -1).size(), 2U);
}

}  // namespace
}  // namespace saccade::perceive
