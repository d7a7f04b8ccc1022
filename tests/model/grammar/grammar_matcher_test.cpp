// The matcher accepts what the grammar derives, no more and no less.
#include "model/grammar/grammar_matcher.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/result.hpp"
#include "grammar_oracle.hpp"
#include "model/grammar/gbnf_reader.hpp"

namespace cudal1 {
namespace {

std::unique_ptr<GrammarMatcher> matcher_of(std::string_view gbnf, GrammarMatcher::Options options = {}) {
  return std::make_unique<GrammarMatcher>(GrammarAutomaton(read_gbnf(gbnf)), options);
}

//! "no", "begins" or "whole"
std::string verdict(GrammarMatcher& matcher, std::string_view text) {
  GrammarState state = matcher.start();
  if (!matcher.advance(state, text)) return "no";
  return matcher.may_end(state) ? "whole" : "begins";
}

std::string verdict(std::string_view gbnf, std::string_view text) { return verdict(*matcher_of(gbnf), text); }

std::string oracle_verdict(GrammarOracle& oracle, std::string_view text) {
  if (oracle.derives(text)) return "whole";
  return oracle.derives_beginning(text) ? "begins" : "no";
}

std::string message_of(std::string_view gbnf) {
  try {
    matcher_of(gbnf);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(GrammarMatcher, FollowsLiteralsClassesAndRepetitions) {
  constexpr std::string_view number = R"(root ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]{1,3})?)";
  EXPECT_EQ(verdict(number, ""), "begins");
  EXPECT_EQ(verdict(number, "-"), "begins");
  EXPECT_EQ(verdict(number, "-12"), "whole");
  EXPECT_EQ(verdict(number, "01"), "no");
  EXPECT_EQ(verdict(number, "1."), "begins");
  EXPECT_EQ(verdict(number, "1.234"), "whole");
  EXPECT_EQ(verdict(number, "1.2345"), "no");
}

TEST(GrammarMatcher, FollowsNestedRules) {
  constexpr std::string_view list = "root ::= item\nitem ::= \"x\" | \"[\" (item (\",\" item)*)? \"]\"\n";
  EXPECT_EQ(verdict(list, "[x,[],[x,[x]]]"), "whole");
  EXPECT_EQ(verdict(list, "[x,[],[x,[x]]"), "begins");
  EXPECT_EQ(verdict(list, "[x,[],[x,[x]]]]"), "no");
  EXPECT_EQ(verdict(list, "[,"), "no");
}

TEST(GrammarMatcher, KeepsWaysApartWhoseNumberDoublesWithEveryByte) {
  const auto matcher = matcher_of("root ::= \"a\" root \"x\" | \"a\" root \"y\" | \"b\"");
  const std::string begin(60, 'a');
  GrammarState state = matcher->start();
  ASSERT_TRUE(matcher->advance(state, begin + "b"));
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(matcher->advance(state, i % 3 == 0 ? "x" : "y"));
  EXPECT_TRUE(matcher->may_end(state));
  EXPECT_FALSE(matcher->advance(state, "x"));
}

TEST(GrammarMatcher, NeedsNoStackForARuleThatEndsWithItself) {
  const auto matcher = matcher_of("root ::= line root | \"\"\nline ::= [a-z]* \"\\n\"\n");
  GrammarState state = matcher->start();
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(matcher->advance(state, "abc\n"));
  EXPECT_TRUE(matcher->may_end(state));
  EXPECT_EQ(state, matcher->start());
  EXPECT_LT(matcher->set_count(), 30u);
}

TEST(GrammarMatcher, CutsCharactersWhereTokensDo) {
  constexpr std::string_view euro_or_e = "root ::= [\u20ac\u00e9]+ \".\"";
  EXPECT_EQ(verdict(euro_or_e, "\xE2"), "begins");
  EXPECT_EQ(verdict(euro_or_e, "\xE2\x82"), "begins");
  EXPECT_EQ(verdict(euro_or_e, "\xE2\x82\xAC\xC3\xA9."), "whole");
  EXPECT_EQ(verdict(euro_or_e, "\xE2\x82\xAD"), "no");
  EXPECT_EQ(verdict(euro_or_e, "\xE2."), "no");
  EXPECT_EQ(verdict("root ::= .", "\xED\xA0"), "no") << "a surrogate";
  EXPECT_EQ(verdict("root ::= .", "\xC0"), "no") << "longer than it needs to be";
  EXPECT_EQ(verdict("root ::= [^a]", "\xF0\x9F\x98"), "begins");
  EXPECT_EQ(verdict("root ::= [^a]", "a"), "no");
}

TEST(GrammarMatcher, ForkedStatesGoTheirOwnWays) {
  const auto matcher = matcher_of("root ::= \"(\" root \")\" | [a-z]+");
  GrammarState first = matcher->start();
  ASSERT_TRUE(matcher->advance(first, "((a"));
  GrammarState second = first;
  EXPECT_EQ(first, second);
  ASSERT_TRUE(matcher->advance(first, "b))"));
  ASSERT_TRUE(matcher->advance(second, ")"));
  EXPECT_TRUE(matcher->may_end(first));
  EXPECT_FALSE(matcher->may_end(second));
  ASSERT_TRUE(matcher->advance(second, ")"));
  EXPECT_EQ(first, second) << "equal by what can follow, not by what was read";
}

TEST(GrammarMatcher, LeavesOutWhatNeverEnds) {
  EXPECT_EQ(verdict("root ::= \"a\" endless | \"b\"\nendless ::= \"x\" endless\n", "a"), "no");
  EXPECT_EQ(verdict("root ::= \"a\" []* \"b\"", "ab"), "whole");
  EXPECT_EQ(message_of("root ::= \"x\" root"),
            "grammar: no text of rule 'root' ever ends; give its recursion an alternative without it");
}

TEST(GrammarMatcher, RefusesLeftRecursionByName) {
  EXPECT_EQ(message_of("root ::= sum\nsum ::= term | other\nterm ::= \"1\"\nother ::= \"\" sum \"+\" term\n"),
            "grammar: rule 'sum' begins with itself (sum -> other -> sum), which cannot be followed; write the "
            "repetition with * or with the rule at the end");
  EXPECT_NE(message_of("root ::= maybe root \"x\" | \"y\"\nmaybe ::= \"m\"?\n"), "") << "behind what may be empty";
  EXPECT_EQ(message_of("root ::= \"y\" | \"m\" root \"x\"\n"), "");
}

TEST(GrammarMatcher, RefusesRepetitionsThatBecomeTooLarge) {
  const std::string message = message_of("root ::= ((\"abc\"{2000}){2000}){2000}");
  EXPECT_NE(message.find("rule 'root' becomes too large"), message.npos) << message;
  EXPECT_EQ(message_of("root ::= (((\"\"{2000}){2000}){2000}){2000} \"a\""), "") << "the empty text however often";
}

TEST(GrammarMatcher, FollowsNestingUpToItsBound) {
  const auto matcher = matcher_of("root ::= \"(\" root \")\" | \"x\"", {.deepest_nesting = 50});
  EXPECT_EQ(verdict(*matcher, std::string(40, '(') + "x" + std::string(40, ')')), "whole");
  EXPECT_EQ(verdict(*matcher, std::string(60, '(')), "no");
}

TEST(GrammarMatcher, ForgetsWhatNoStateNeedsAndKeepsTheRest) {
  const auto matcher = matcher_of("root ::= [a-z] root [a-z] | \".\"", {.deepest_nesting = 1000, .sets_to_keep = 500});
  GrammarState kept = matcher->start();
  ASSERT_TRUE(matcher->advance(kept, std::string(100, 'q')));
  for (int i = 0; i < 60; ++i) {
    GrammarState state = matcher->start();
    for (int n = 0; n < 300; ++n) ASSERT_TRUE(matcher->advance(state, "z"));
  }
  EXPECT_GT(matcher->generation(), 0u);
  EXPECT_LT(matcher->set_count(), 2000u);
  ASSERT_TRUE(matcher->advance(kept, "." + std::string(99, 'a')));
  EXPECT_FALSE(matcher->may_end(kept));
  ASSERT_TRUE(matcher->advance(kept, "a"));
  EXPECT_TRUE(matcher->may_end(kept));
}

//! Each byte that could come next is tried; the walk goes on with one that is allowed.
void compare_along_a_walk(const GrammarRules& rules, GrammarMatcher& matcher, Random& random) {
  static const std::string bytes = "ab\xC3\xA9\xE8\xE2\x82\xAC\xF0\x9F\x98\x80\xED\xA0";
  GrammarOracle oracle(rules);
  std::string text;
  for (int length = 0; length < 9; ++length) {
    std::vector<char> allowed;
    for (const char byte : bytes) {
      const std::string longer = text + byte, expected = oracle_verdict(oracle, longer);
      ASSERT_EQ(verdict(matcher, longer), expected) << to_gbnf(rules) << "on '" << longer << "'";
      if (expected != "no") allowed.push_back(byte);
    }
    if (allowed.empty()) return;
    text += allowed[random.below(allowed.size())];
  }
}

TEST(GrammarMatcher, AgreesWithThePlainRecogniserOnRandomGrammars) {
  Random random(7);
  int followed = 0, refused = 0;
  while (followed < 1500) {
    const GrammarRules rules = random_grammar(random);
    std::unique_ptr<GrammarMatcher> matcher;
    try {
      matcher = matcher_of(to_gbnf(rules));
    } catch (const Error&) {
      ++refused;
      continue;
    }
    ++followed;
    GrammarOracle oracle(rules);
    ASSERT_EQ(verdict(*matcher, ""), oracle_verdict(oracle, "")) << to_gbnf(rules);
    compare_along_a_walk(rules, *matcher, random);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(refused, 100) << "left recursion comes up, too";
}

}  // namespace
}  // namespace cudal1
