#include "model/tokenizer/tokenizer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "base/utf8.hpp"
#include "sample_tokenizer.hpp"

namespace cudal1 {
namespace {

using Pieces = std::vector<std::string>;
using Ids = std::vector<TokenId>;

Pieces encoded(const TokenizerData& data, std::string_view text) {
  const Tokenizer tokenizer(data);
  return pieces(tokenizer, tokenizer.encode(text));
}

std::string random_text(Random& random, std::size_t characters) {
  std::string text;
  while (characters > 0) {
    const std::uint64_t ends[] = {0x80, 0x800, 0x10000, 0x110000};
    const auto code_point = static_cast<char32_t>(random.below(ends[random.below(4)]));
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    append_utf8(code_point, text);
    --characters;
  }
  return text;
}

TEST(Tokenizer, MergesTheBestPairFirst) {
  // "b c" is better than "a b", so "abc" is a + bc; "ab" alone still merges.
  const TokenizerData data = byte_tokenizer({{"b", "c"}, {"a", "b"}, {"a", "bc"}});
  EXPECT_EQ(encoded(data, "abc"), (Pieces{"abc"}));
  EXPECT_EQ(encoded(data, "abd"), (Pieces{"ab", "d"}));
  const TokenizerData no_whole = byte_tokenizer({{"b", "c"}, {"a", "b"}});
  EXPECT_EQ(encoded(no_whole, "abc"), (Pieces{"a", "bc"}));
}

TEST(Tokenizer, MergesEqualPairsFromTheLeft) {
  EXPECT_EQ(encoded(byte_tokenizer({{"a", "a"}}), "aaa"), (Pieces{"aa", "a"}));
  EXPECT_EQ(encoded(byte_tokenizer({{"a", "a"}, {"aa", "aa"}}), "aaaaaaa"), (Pieces{"aaaa", "aa", "a"}));
}

TEST(Tokenizer, MergesWhatMergesHaveMade) {
  const TokenizerData data = byte_tokenizer({{"Ġ", "t"}, {"h", "e"}, {"Ġt", "he"}, {"e", "r"}});
  EXPECT_EQ(encoded(data, "the the ther"), (Pieces{"t", "he", " the", " the", "r"}));
}

TEST(Tokenizer, NeverMergesAcrossPieces) {
  const TokenizerData data = byte_tokenizer({{"a", "!"}, {"a", "a"}});
  EXPECT_EQ(encoded(data, "aa!"), (Pieces{"aa", "!"}));
}

TEST(Tokenizer, FallsBackToBytesForAllThatHasNoToken) {
  EXPECT_EQ(encoded(byte_tokenizer({{"Ã", "©"}}), "é漢"), (Pieces{"é", "\xE6", "\xBC", "\xA2"}));
}

TEST(Tokenizer, HasAnIdForEveryByte) {
  const Tokenizer tokenizer(byte_tokenizer(no_merges));
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_EQ(tokenizer.token_bytes(byte), std::string(1, static_cast<char>(byte)));
  for (int byte = 0; byte < 128; ++byte)
    EXPECT_EQ(tokenizer.encode(std::string(1, static_cast<char>(byte))), (Ids{byte}));
}

TEST(Tokenizer, LeavesOutBytesThatHaveNoToken) {
  TokenizerData data = byte_tokenizer({{"a", "b"}});
  data.tokens['x'] = "";
  EXPECT_EQ(encoded(data, "axb"), (Pieces{"ab"}));  // what is left merges as if it had been written so
}

TEST(Tokenizer, ReadsInvalidUtf8AsPythonReplacesIt) {
  const Tokenizer tokenizer(byte_tokenizer(no_merges));
  EXPECT_EQ(tokenizer.encode("a\xFF\xE6\xBC"), tokenizer.encode("a\uFFFD\uFFFD"));
  EXPECT_EQ(tokenizer.encode_with_special("\x80"), tokenizer.encode("\uFFFD"));
}

TEST(Tokenizer, TakesAPieceThatIsATokenWholeWhereMergesAreIgnored) {
  TokenizerData data = byte_tokenizer({{"a", "b"}, {"b", "c"}});
  data.tokens.push_back("abc");
  EXPECT_EQ(encoded(data, "abc abc"), (Pieces{"ab", "c", " ", "ab", "c"}));
  data.ignore_merges = true;
  EXPECT_EQ(encoded(data, "abc abc"), (Pieces{"abc", " ", "ab", "c"}));  // " abc" is a piece, and no token
}

TEST(Tokenizer, ComposesTextWhereTheFileSaysSo) {
  TokenizerData data = byte_tokenizer(no_merges);
  EXPECT_EQ(Tokenizer(data).encode("e\u0301").size(), 3u);
  data.compose = true;
  EXPECT_EQ(Tokenizer(data).encode("e\u0301"), Tokenizer(data).encode("é"));
}

TEST(Tokenizer, MakesNoAddedTokenOfText) {
  TokenizerData data = byte_tokenizer({{"i", "m"}}, {{0, "<|im_end|>", true}, {0, "<think>", false}});
  data.ignore_merges = true;
  data.steps.clear();  // "<|im_end|>" alone is a piece, then
  const Tokenizer tokenizer(data);
  for (const std::string text : {"<|im_end|>", "<think>", "a<|im_end|>b<think>"}) {
    const Ids ids = tokenizer.encode(text);
    for (const TokenId id : ids) EXPECT_LT(id, 257);
    EXPECT_EQ(tokenizer.decode(ids), text);
  }
}

TEST(Tokenizer, MakesAddedTokensOfOurOwnText) {
  const Tokenizer tokenizer(byte_tokenizer({{"i", "m"}}, {{0, "<|im_end|>", true}, {0, "<|im_end|>x", false}}));
  EXPECT_EQ(tokenizer.encode_with_special("a<|im_end|><|im_end|>xb<|im_en"),
            (Ids{'a', 257, 258, 'b', '<', '|', 256, '_', 'e', 'n'}));
}

TEST(Tokenizer, RefusesMergesThatMakeAControlToken) {
  TokenizerData data = byte_tokenizer({{"<", "s"}, {"<s", ">"}});
  data.added.push_back({257, "<s>", true});
  EXPECT_THROW(Tokenizer{data}, Error);
}

TEST(Tokenizer, CutsTextOnBothSidesOfAnAddedToken) {
  const Tokenizer tokenizer(byte_tokenizer({{"a", "b"}}, {{0, "<s>", true}}));
  EXPECT_EQ(tokenizer.encode_with_special("a<s>b"), (Ids{'a', 257, 'b'}));
}

TEST(Tokenizer, DecodesWithAndWithoutControlTokens) {
  const Tokenizer tokenizer(byte_tokenizer(no_merges, {{0, "<s>", true}, {0, "<tag>", false}}));
  const Ids ids = {'a', 257, 258, 'b'};
  EXPECT_EQ(tokenizer.decode(ids), "a<s><tag>b");
  EXPECT_EQ(tokenizer.decode(ids, true), "a<tag>b");
}

TEST(Tokenizer, DecodesIdsWithoutATokenToNothing) {
  const Tokenizer tokenizer(byte_tokenizer(no_merges));
  EXPECT_EQ(tokenizer.decode(Ids{-1, 'a', 1 << 30, 'b', static_cast<TokenId>(tokenizer.vocabulary_size())}), "ab");
}

TEST(Tokenizer, DecodesTokensOutsideOfTheAlphabetAsTheirText) {
  TokenizerData data = byte_tokenizer(no_merges);
  data.tokens.push_back("two words");
  EXPECT_EQ(Tokenizer(data).decode(Ids{257}), "two words");
}

TEST(Tokenizer, KnowsItsSpecialTokens) {
  TokenizerData data = byte_tokenizer(no_merges, {{0, "<s>", true}});
  data.begin_of_text = 257;
  const Tokenizer tokenizer(data);
  EXPECT_EQ(tokenizer.find_special("<s>"), 257);
  EXPECT_EQ(tokenizer.find_special("a"), std::nullopt);
  EXPECT_TRUE(tokenizer.is_special(257));
  EXPECT_FALSE(tokenizer.is_special('a'));
  EXPECT_FALSE(tokenizer.is_special(-1));
  EXPECT_EQ(tokenizer.vocabulary_size(), 258u);
  EXPECT_EQ(tokenizer.begin_of_text(), 257);
  EXPECT_EQ(tokenizer.end_of_text(), std::nullopt);
}

TEST(Tokenizer, GivesBackAnyTextItEncoded) {
  TokenizerData data = byte_tokenizer({{"a", "b"}, {"Ġ", "a"}, {"Ã", "©"}, {"ð", "Ł"}});
  Random random(5);
  for (const std::string_view pattern : {gpt2_pattern, llama3_pattern}) {
    for (const bool single_digits : {false, true}) {
      data.steps = {{PreTokenizerStep::Kind::pattern, std::string(pattern)}};
      if (single_digits) data.steps.insert(data.steps.begin(), {PreTokenizerStep::Kind::single_digits, ""});
      const Tokenizer tokenizer(data);
      for (int round = 0; round < 500; ++round) {
        const std::string text = random_text(random, random.below(60));
        EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
        EXPECT_EQ(tokenizer.decode(tokenizer.encode_with_special(text)), text);
      }
    }
  }
}

TEST(Tokenizer, SaysTheSameOfATextThatItHasSeenBefore) {
  const Tokenizer tokenizer(byte_tokenizer({{"a", "b"}, {"ab", "c"}}));
  const Ids first = tokenizer.encode("abc abcd abc");
  EXPECT_EQ(tokenizer.encode("abc abcd abc"), first);
}

TEST(Tokenizer, MergesLongPiecesInReasonableTime) {
  const Tokenizer tokenizer(byte_tokenizer({{"a", "a"}, {"aa", "aa"}}));
  EXPECT_EQ(tokenizer.encode(std::string(2'000'000, 'a')).size(), 500'000u);  // quadratic merging would take an hour
}

TEST(Tokenizer, ServesManyThreadsAtATime) {
  const Tokenizer tokenizer(byte_tokenizer({{"a", "b"}, {"b", "a"}, {"ab", "ab"}}));
  std::vector<std::string> texts;
  Random random(9);
  for (int i = 0; i < 200; ++i) texts.push_back(random_text(random, 50) + std::string(random.below(9), 'a') + "b ba");
  const Tokenizer alone(byte_tokenizer({{"a", "b"}, {"b", "a"}, {"ab", "ab"}}));
  std::vector<int> wrong(4);
  std::vector<std::jthread> threads;
  for (std::size_t thread = 0; thread < wrong.size(); ++thread)
    threads.emplace_back([&, thread] {
      for (const std::string& text : texts) wrong[thread] += tokenizer.encode(text) != alone.encode(text);
    });
  threads.clear();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

void expect_refused(const TokenizerData& data, std::string_view said) {
  try {
    const Tokenizer tokenizer(data);
    ADD_FAILURE() << "not refused: " << said;
  } catch (const Error& problem) {
    const std::string what = problem.what();
    EXPECT_NE(what.find(said), std::string::npos) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  }
}

TEST(Tokenizer, RefusesPartsThatDoNotFitTogether) {
  TokenizerData data = byte_tokenizer(no_merges);
  data.merges.clear();
  expect_refused(data, "has no merges");

  data = byte_tokenizer(no_merges);
  data.merges.emplace_back("a", "zz");
  expect_refused(data, "merge 2 of the tokenizer (\"a zz\") needs \"zz\"");

  data = byte_tokenizer(no_merges);
  data.merges.emplace_back("a", "b");
  expect_refused(data, "needs \"ab\"");

  data = byte_tokenizer(no_merges);
  data.added.push_back({1000, "<s>", true});
  expect_refused(data, "has the id 1000, but there are 257 tokens");

  data = byte_tokenizer(no_merges);
  data.end_of_text = -3;
  expect_refused(data, "the end of text");

  data = byte_tokenizer(no_merges);
  data.steps[0].pattern = "(";
  expect_refused(data, "pattern (");
}

}  // namespace
}  // namespace cudal1
