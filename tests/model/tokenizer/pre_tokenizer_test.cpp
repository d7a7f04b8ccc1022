#include "model/tokenizer/pre_tokenizer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/tokenizer/character_kinds.hpp"
#include "model/tokenizer/normal_form.hpp"
#include "sample_tokenizer.hpp"

namespace cudal1 {
namespace {

using Step = PreTokenizerStep;
using Pieces = std::vector<std::string>;

Step pattern_step(std::string_view pattern) { return {Step::Kind::pattern, std::string(pattern)}; }
const Step digits_step = {Step::Kind::single_digits, ""};

Pieces cut(const std::vector<Step>& steps, std::string_view text) {
  Pieces pieces;
  PreTokenizer(steps).cut(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

TEST(PreTokenizer, CutsAsGpt2) {
  EXPECT_EQ(cut({pattern_step(gpt2_pattern)}, "It's  12 apples,\n\n ok"),
            (Pieces{"It", "'s", " ", " 12", " apples", ",", "\n\n", " ok"}));
}

TEST(PreTokenizer, CutsAsLlama3) {
  EXPECT_EQ(cut({pattern_step(llama3_pattern)}, "IT'S 12345 (ok);\n\n  x"),
            (Pieces{"IT", "'S", " ", "123", "45", " (", "ok", ");\n\n", " ", " x"}));
}

TEST(PreTokenizer, CutsDigitsOneByOneBeforeThePattern) {
  // The space before digits is a text of its own by then, so all of it stays together.
  EXPECT_EQ(cut({digits_step, pattern_step(gpt2_pattern)}, "a  12 b3"), (Pieces{"a", "  ", "1", "2", " b", "3"}));
}

TEST(PreTokenizer, TakesNumbersOfAllScriptsAsDigits) {
  EXPECT_EQ(cut({digits_step}, "x٣²Ⅷ𝟡y"), (Pieces{"x", "٣", "²", "Ⅷ", "𝟡", "y"}));
  EXPECT_EQ(cut({digits_step}, "x\U00011DE0y"), (Pieces{"x", "\U00011DE0", "y"}));  // of Unicode 17
}

TEST(PreTokenizer, GivesEmptyTextNoPieces) { EXPECT_EQ(cut({pattern_step(gpt2_pattern)}, ""), Pieces{}); }

TEST(PreTokenizer, KeepsATextWithoutStepsWhole) { EXPECT_EQ(cut({}, "a b"), Pieces{"a b"}); }

TEST(PreTokenizer, KeepsWhatNoPatternMatches) {
  EXPECT_EQ(cut({pattern_step("b+")}, "abbc"), (Pieces{"a", "bb", "c"}));
}

TEST(PreTokenizer, KnowsLettersThatPcre2MayNot) {
  const std::string han_h = "\U00031350";  // a letter since Unicode 15
  EXPECT_EQ(cut({pattern_step(gpt2_pattern)}, "a" + han_h + "b!"), (Pieces{"a" + han_h + "b", "!"}));
  const std::string digit = "\U00011F50";  // a number since Unicode 15
  EXPECT_EQ(cut({pattern_step(gpt2_pattern)}, "a" + digit + "1"), (Pieces{"a", digit + "1"}));
}

TEST(PreTokenizer, DoesNotTakeTheMongolianSeparatorForSpace) {
  EXPECT_EQ(cut({pattern_step(gpt2_pattern)}, "a\u180E!b"), (Pieces{"a", "\u180E!", "b"}));
}

TEST(PreTokenizer, ReadsLongRunsToTheirEnd) {
  for (const std::string one : {"a", " ", "!", "\n", "é"}) {
    std::string run;
    for (int i = 0; i < 1'000'000; ++i) run += one;
    EXPECT_EQ(cut({pattern_step(llama3_pattern)}, run), Pieces{run});
  }
}

TEST(CharacterKinds, LeaveKnownTextAlone) { EXPECT_FALSE(with_known_characters("plain é 漢字 🙂 \u200B")); }

TEST(CharacterKinds, KeepEveryByteInItsPlace) {
  const std::string text = "a\u180E\u1C89b\U00031350\U0001FAE8c";
  const auto known = with_known_characters(text);
  ASSERT_TRUE(known);
  ASSERT_EQ(known->size(), text.size());
  for (const char letter : {'a', 'b', 'c'}) EXPECT_EQ(known->find(letter), text.find(letter));
}

TEST(Pattern, SaysWhatIsWrongWithIt) {
  try {
    const Pattern pattern("a(b");
    FAIL();
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("a(b"), std::string::npos);
  }
  EXPECT_THROW(Pattern("a*"), Error);  // matches nothing at every place
}

TEST(Pattern, RefusesWhatOnigurumaUnderstandsDifferently) {
  for (const char* pattern : {R"(\w+)", R"(a\b)", "^a", "a$", "a.b", "[a&&b]", "[a[b]]", "a{,3}", "a{1,2}+", "(?m)a",
                              "(?<=a)b", R"(\h)", "[]a]", "a\\", "(*UCP)a"})
    EXPECT_THROW(refuse_ambiguous_pattern(pattern), Error) << pattern;
}

TEST(Pattern, TakesThoseOfTheModelsWeSupport) {
  EXPECT_NO_THROW(refuse_ambiguous_pattern(gpt2_pattern));
  EXPECT_NO_THROW(refuse_ambiguous_pattern(llama3_pattern));
  EXPECT_NO_THROW(refuse_ambiguous_pattern(R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|\p{N}++)"));
}

TEST(NormalForm, ComposesAndOrdersMarks) {
  EXPECT_EQ(composed("e\u0301"), "é");
  EXPECT_EQ(composed("a\u0301\u0327"), "á\u0327");
  EXPECT_EQ(composed("\u1112\u1161\u11AB"), "한");
  EXPECT_EQ(composed("\u212B\uFA10"), "Å塚");
  EXPECT_EQ(composed("plain é"), "plain é");
}

TEST(NormalForm, LeavesWhatCameAfterUnicode9WhereItIs) {
  EXPECT_EQ(composed("a\u0315\u0316"), "a\u0316\u0315");  // 232 and 220: ordered
  for (const std::string mark : {"\u07FD", "\u1ABF", "\U0001E4EE"})
    EXPECT_EQ(composed("a\u0315" + mark), "a\u0315" + mark);
  EXPECT_EQ(composed("\U00011935\U00011930e\u0301"), "\U00011935\U00011930é");
}

TEST(NormalForm, SkipsOnlyTextThatIsComposed) {
  EXPECT_TRUE(is_surely_composed("plain é ÿ ɏ ʯ"));
  EXPECT_FALSE(is_surely_composed("e\u0301"));
}

TEST(NormalForm, TakesMarksWithoutEnd) {
  std::string marks = "a", sorted = "á";  // quadratic sorting of these would take the test past its time
  constexpr int pairs = 200'000;
  for (int i = 0; i < pairs; ++i) marks += "\u0301\u0327";
  for (int i = 0; i < pairs; ++i) sorted += "\u0327";
  for (int i = 1; i < pairs; ++i) sorted += "\u0301";
  EXPECT_TRUE(composed(marks) == sorted);
}

}  // namespace
}  // namespace cudal1
