#include "emit/assemble_text.h"

#include <gtest/gtest.h>

#include <vector>

#include "emit/utf8.h"

namespace saccade::emit {
namespace {

std::string assemble(const std::vector<std::string>& tokens) {
  TextAssembler assembler;
  std::string out;
  for (const std::string& token : tokens) {
    const std::string piece = assembler.push(token);
    EXPECT_TRUE(is_valid_utf8(piece)) << "a piece is not whole UTF-8";
    out += piece;
  }
  return out + assembler.finish();
}

// Corpus 26: lucebox#641, Fabric#2203, llama.cpp#202.
TEST(AssembleText, EmojiSplitOverFourTokensComesOutWhole) {
  TextAssembler assembler;
  EXPECT_EQ(assembler.push("\xF0"), "");
  EXPECT_EQ(assembler.push("\x9F"), "");
  EXPECT_EQ(assembler.push("\x98"), "");
  EXPECT_EQ(assembler.push("\x80"), "😀");
  EXPECT_EQ(assembler.finish(), "");
}

TEST(AssembleText, JoinedFamilyKeepsItsJoiners) {
  const std::string family = "👨‍👩‍👧";
  std::vector<std::string> bytes;
  for (const char c : family) bytes.emplace_back(1, c);
  EXPECT_EQ(assemble(bytes), family);
}

TEST(AssembleText, BadBytesAreReplacedOncePerSubpartAndTheStreamGoesOn) {
  EXPECT_EQ(assemble({"a\x80z"}), "a\uFFFDz");          // lone continuation
  EXPECT_EQ(assemble({"\xC0\xAFz"}), "\uFFFD\uFFFDz");  // overlong two bytes
  EXPECT_EQ(assemble({"\xE0\x80\xAFz"}), "\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(assemble({"\xED\xA0\x80z"}), "\uFFFD\uFFFD\uFFFDz");  // surrogate
  EXPECT_EQ(assemble({"\xF4\x90\x80\x80z"}), "\uFFFD\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(assemble({"\xF0\x9F\x98z"}), "\uFFFDz");  // cut short: one subpart
  EXPECT_EQ(assemble({"\xE2\x82", "\xE2\x82\xAC"}), "\uFFFD€");
  EXPECT_EQ(assemble({"\xFF\xFEok"}), "\uFFFD\uFFFDok");
}

TEST(AssembleText, CutShortAtTheEndIsReplaced) {
  EXPECT_EQ(assemble({"ok \xF0\x9F"}), "ok \uFFFD");
}

TEST(AssembleText, ByteOrderMarkIsDroppedAtTheStartOnly) {
  EXPECT_EQ(assemble({"\xEF", "\xBB\xBF", "hi"}), "hi");
  EXPECT_EQ(assemble({"a\xEF\xBB\xBF"}), "a\xEF\xBB\xBF");
}

TEST(AssembleText, IsFreshAfterFinish) {
  TextAssembler assembler;
  EXPECT_EQ(assembler.push("\xE2\x82"), "");
  EXPECT_EQ(assembler.finish(), "\uFFFD");
  EXPECT_EQ(assembler.push("\xEF\xBB\xBFx"), "x");
}

TEST(AssembleText, CuttingAnywhereGivesTheSameText) {
  const std::string bytes =
      "\xEF\xBB\xBFgrün 漢字 👨‍👩‍👧 \xC0\xAF\xED\xA0\x80\xF0\x9F end\xE2";
  const std::string whole = assemble({bytes});
  for (std::size_t i = 0; i <= bytes.size(); ++i) {
    for (std::size_t j = i; j <= bytes.size(); ++j) {
      EXPECT_EQ(assemble({bytes.substr(0, i), bytes.substr(i, j - i), bytes.substr(j)}), whole);
    }
  }
}

TEST(Utf8, CodePointsGoOutAsTheyCameIn) {
  const std::string text = "a é € 😀";
  std::string again;
  for (std::size_t at = 0; at < text.size();) append_utf8(again, next_code_point(text, at));
  EXPECT_EQ(again, text);
}

}  // namespace
}  // namespace saccade::emit
