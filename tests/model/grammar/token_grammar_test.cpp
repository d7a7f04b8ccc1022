// Masks are those of trying every token, and say what is forced and where a text may end.
#include "model/grammar/token_grammar.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"
#include "grammar_oracle.hpp"

namespace cudal1 {
namespace {

constexpr std::int32_t end_token = 0;

std::shared_ptr<const TokenVocabulary> vocabulary_of(std::vector<std::string> tokens) {
  tokens.insert(tokens.begin(), "<|end|>");
  return std::make_shared<const TokenVocabulary>(std::move(tokens), std::vector<std::int32_t>{end_token});
}

std::vector<std::string> allowed_texts(TokenGrammar& grammar, const GrammarState& state) {
  std::vector<std::string> texts;
  const auto mask = grammar.allowed(state);
  for (std::int32_t token = 0; token < grammar.vocabulary().size(); ++token)
    if (mask->allows(token)) texts.push_back(token == end_token ? "END" : grammar.vocabulary().bytes(token));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(TokenGrammar, AllowsTokensThatGoOverTheEndOfARule) {
  TokenGrammar grammar("root ::= word (\", \" word)*\nword ::= \"ab\" | \"b\"\n",
                       vocabulary_of({"a", "b", "ab", "ab,", "b, a", "b, c", ", ", ",", " "}));
  GrammarState state = grammar.start();
  EXPECT_EQ(allowed_texts(grammar, state), (Texts{"a", "b", "ab", "ab,", "b, a"}));
  ASSERT_TRUE(grammar.advance(state, 5));  // "b, a"
  EXPECT_EQ(allowed_texts(grammar, state), (Texts{"b", "b, a"}));
  ASSERT_TRUE(grammar.advance(state, 2));  // "b"
  EXPECT_EQ(allowed_texts(grammar, state), (Texts{"END", ", ", ","}));
  EXPECT_TRUE(grammar.allowed(state)->may_end);
}

TEST(TokenGrammar, MarksTheOnlyTokenThatIsAllowed) {
  TokenGrammar grammar("root ::= \"x=\" [12]", vocabulary_of({"x", "=", "1", "2", "x=1"}));
  GrammarState state = grammar.start();
  EXPECT_FALSE(grammar.allowed(state)->forced) << "x and x=1";
  ASSERT_TRUE(grammar.advance(state, 1));
  EXPECT_EQ(grammar.allowed(state)->forced, 2);
  EXPECT_EQ(grammar.allowed(state)->allowed_count, 1);
  ASSERT_TRUE(grammar.advance(state, 2));
  EXPECT_FALSE(grammar.allowed(state)->forced);
  ASSERT_TRUE(grammar.advance(state, 3));
  EXPECT_EQ(grammar.allowed(state)->forced, end_token) << "nothing but the end";
}

TEST(TokenGrammar, NeverAllowsSpecialTokens) {
  const auto vocabulary = std::make_shared<const TokenVocabulary>(std::vector<std::string>{"", "a", "<|end|>", "a"},
                                                                  std::vector<std::int32_t>{2});
  TokenGrammar grammar("root ::= .*", vocabulary);
  GrammarState state = grammar.start();
  const auto mask = grammar.allowed(state);
  EXPECT_FALSE(mask->allows(0));
  EXPECT_TRUE(mask->allows(1));
  EXPECT_TRUE(mask->allows(2)) << "the text may end";
  EXPECT_TRUE(mask->allows(3)) << "the same bytes as another";
  EXPECT_FALSE(grammar.advance(state, 0));
  EXPECT_TRUE(state.is_dead());
}

TEST(TokenGrammar, NothingFollowsTheEnd) {
  TokenGrammar grammar("root ::= \"a\"*", vocabulary_of({"a"}));
  GrammarState state = grammar.start(), other = state;
  EXPECT_TRUE(grammar.advance(state, end_token));
  EXPECT_EQ(grammar.allowed(state)->allowed_count, 0);
  EXPECT_FALSE(grammar.advance(state, 1));
  EXPECT_FALSE(grammar.advance(other, 7)) << "no token of the vocabulary";
  EXPECT_FALSE(grammar.advance(other, -1));
  TokenGrammar unfinished("root ::= \"ab\"", vocabulary_of({"a", "b"}));
  GrammarState begun = unfinished.start();
  EXPECT_FALSE(unfinished.advance(begun, end_token));
}

TEST(TokenGrammar, AllowsTokensThatEndInsideACharacter) {
  TokenGrammar grammar("root ::= [\u20ac\u00e9] \"!\"",
                       vocabulary_of({"\xE2", "\xE2\x82", "\x82\xAC", "\xAC!", "\xC3", "\xC3\xA8"}));
  GrammarState state = grammar.start();
  EXPECT_EQ(allowed_texts(grammar, state), (Texts{"\xE2", "\xE2\x82", "\xC3"}));
  GrammarState fork = state;
  ASSERT_TRUE(grammar.advance(state, 1));
  EXPECT_EQ(allowed_texts(grammar, state), (Texts{"\x82\xAC"}));
  ASSERT_TRUE(grammar.advance(fork, 2));
  EXPECT_EQ(allowed_texts(grammar, fork), (Texts{"\xAC!"}));
}

TEST(TokenGrammar, RefusesAnEndTokenOutsideTheVocabulary) {
  EXPECT_THROW(TokenVocabulary({"a"}, {1}), Error);
  EXPECT_THROW(TokenVocabulary({"a"}, {-1}), Error);
}

std::vector<std::string> random_tokens(Random& random) {
  static const std::string bytes = "ab\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
  std::vector<std::string> tokens;
  for (const char byte : bytes) tokens.emplace_back(1, byte);
  for (int i = 0; i < 150; ++i) {
    std::string token;
    for (std::uint64_t length = 1 + random.below(5); length > 0; --length) token += bytes[random.below(bytes.size())];
    tokens.push_back(token);
  }
  return tokens;
}

//! Every token by itself, against the recogniser.
void compare_masks(const GrammarRules& rules, TokenGrammar& grammar, Random& random) {
  GrammarOracle oracle(rules);
  GrammarState state = grammar.start();
  std::string text;
  for (int step = 0; step < 4; ++step) {
    const auto mask = grammar.allowed(state);
    std::vector<std::int32_t> allowed;
    ASSERT_EQ(mask->may_end, oracle.derives(text));
    ASSERT_EQ(mask->allows(end_token), mask->may_end);
    for (std::int32_t token = 1; token < grammar.vocabulary().size(); ++token) {
      const bool expected = oracle.derives_beginning(text + grammar.vocabulary().bytes(token));
      ASSERT_EQ(mask->allows(token), expected) << to_gbnf(rules) << text << " + " << grammar.vocabulary().bytes(token);
      if (expected) allowed.push_back(token);
    }
    ASSERT_EQ(mask->allowed_count, static_cast<std::int32_t>(allowed.size()) + (mask->may_end ? 1 : 0));
    ASSERT_EQ(mask->forced.has_value(), mask->allowed_count == 1);
    if (allowed.empty()) return;
    const std::int32_t token = allowed[random.below(allowed.size())];
    ASSERT_TRUE(grammar.advance(state, token));
    text += grammar.vocabulary().bytes(token);
  }
}

TEST(TokenGrammar, MasksAreThoseOfTryingEveryToken) {
  Random random(11);
  const auto vocabulary = vocabulary_of(random_tokens(random));
  for (int followed = 0; followed < 150;) {
    const GrammarRules rules = random_grammar(random);
    std::unique_ptr<TokenGrammar> grammar;
    TokenGrammar::Options options;
    options.matcher.sets_to_keep = followed % 2 == 0 ? 8 : 10000;  // forgetting in between changes nothing
    options.masks_to_keep = followed % 3 == 0 ? 2 : 1000;
    try {
      grammar = std::make_unique<TokenGrammar>(to_gbnf(rules), vocabulary, options);
    } catch (const Error&) {
      continue;
    }
    ++followed;
    compare_masks(rules, *grammar, random);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cudal1
