#include "emit/filter_text.h"

#include <gtest/gtest.h>

namespace saccade::emit {
namespace {

FilterWords words(const std::vector<std::string>& list) {
  auto made = make_filter_words(list);
  EXPECT_TRUE(made.ok());
  return made.ok() ? *made : nullptr;
}

TEST(FilterText, CleansSpacesAndControls) {
  EXPECT_EQ(clean_text("  a \t\u00A0b\r\nc\r\rd \n\n\n\n e \x1B[31m\x07 "),
            "a b\nc\n\nd\n\ne [31m");
  EXPECT_EQ(clean_text("safe\u202Etxt.exe\u2066x\u200By"), "safetxt.exexy");
  EXPECT_EQ(clean_text(" \n \t "), "");
}

TEST(FilterText, KeepsEmojiFamilies) {
  EXPECT_EQ(clean_text("👨‍👩‍👧 ok"), "👨‍👩‍👧 ok");
}

TEST(FilterText, HidesWholeWordsWithoutRegardToCase) {
  const auto list = words({"darn", "Größe", "мир"});
  EXPECT_EQ(clean_text("Darn! darning (DARN) GRÖßE Мир", list), "****! darning (****) ***** ***");
  EXPECT_EQ(clean_text("undarn darn_it", list), "undarn darn_it");
}

TEST(FilterText, HidesAWordCutOverTokens) {
  TextFilter filter(words({"secret"}));
  EXPECT_EQ(filter.push("a sec"), "a ");
  EXPECT_EQ(filter.push("ret"), "");
  EXPECT_EQ(filter.push("."), "******.");
  EXPECT_EQ(filter.push(" secret"), " ");
  EXPECT_EQ(filter.finish(), "******");
}

TEST(FilterText, AWordLongerThanTheListAllowsPassesInPieces) {
  TextFilter filter(words({"secret"}));
  const std::string word(500, 'x');
  std::string out = filter.push(word);
  EXPECT_GT(out.size(), 400U);
  out += filter.push("secret end");
  out += filter.finish();
  EXPECT_EQ(out, word + "secret end");
}

TEST(FilterText, CuttingAnywhereGivesTheSameText) {
  const auto list = words({"bad", "漢"});
  const std::string text = " bad\r\n\r\n  Bad-ly 漢 , \u2028bad  x ";
  const std::string whole = clean_text(text, list);
  EXPECT_EQ(whole, "***\n\n***-ly * ,\n*** x");
  std::vector<std::size_t> borders;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
      borders.push_back(i);
    }
  }
  for (const std::size_t i : borders) {
    TextFilter filter(list);
    std::string out = filter.push(text.substr(0, i));
    out += filter.push(text.substr(i));
    out += filter.finish();
    EXPECT_EQ(out, whole) << i;
  }
}

TEST(FilterText, RefusesListsThatCannotMatch) {
  EXPECT_FALSE(make_filter_words({"two words"}).ok());
  EXPECT_FALSE(make_filter_words({std::string(65, 'x')}).ok());
  EXPECT_FALSE(make_filter_words(std::vector<std::string>(10'001, "x")).ok());
  EXPECT_TRUE(make_filter_words({"", "  ok  "}).ok());
}

}  // namespace
}  // namespace saccade::emit
