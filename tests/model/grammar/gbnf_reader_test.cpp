// GBNF is read as llama.cpp's manual describes it, and what is wrong is named with its place.
#include "model/grammar/gbnf_reader.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"
#include "model/grammar/grammar_matcher.hpp"

namespace cudal1 {
namespace {

std::string message_of(std::string_view gbnf, std::string_view root = "root") {
  try {
    read_gbnf(gbnf, root);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool accepts(std::string_view gbnf, std::string_view text) {
  GrammarMatcher matcher{GrammarAutomaton(read_gbnf(gbnf))};
  GrammarState state = matcher.start();
  return matcher.advance(state, text) && matcher.may_end(state);
}

TEST(GbnfReader, ReadsAlternativesOverLines) {
  for (const char* gbnf : {"root ::= \"a\" |\n  \"b\"\n", "root ::= \"a\"\n  | \"b\"\n", "root ::= (\"a\"\n\n|\"b\")",
                           "root ::= \"a\" # first\n\n# between\n | \"b\" # second\nother ::= \"c\"\n"}) {
    EXPECT_TRUE(accepts(gbnf, "a")) << gbnf;
    EXPECT_TRUE(accepts(gbnf, "b")) << gbnf;
    EXPECT_FALSE(accepts(gbnf, "ab")) << gbnf;
  }
}

TEST(GbnfReader, ReadsEscapesAndUnicode) {
  EXPECT_TRUE(accepts(R"(root ::= "\n\t\r\\\"\x41\u00e9\U0001F600é")", "\n\t\r\\\"A\xC3\xA9\xF0\x9F\x98\x80\xC3\xA9"));
  EXPECT_TRUE(accepts(R"(root ::= [\]\[\x41é-ü]{4})", "][A\xC3\xBA"));
  EXPECT_TRUE(accepts("root ::= [a-]{2}", "-a")) << "a - before ] is itself";
  EXPECT_FALSE(accepts("root ::= [^\\n]", "\n"));
  EXPECT_TRUE(accepts("root ::= [^\\n]", "\xE2\x82\xAC"));
}

TEST(GbnfReader, ReadsRepetitions) {
  EXPECT_TRUE(accepts("root ::= \"ab\"{2}", "abab"));
  EXPECT_FALSE(accepts("root ::= \"ab\"{2}", "ab"));
  EXPECT_TRUE(accepts("root ::= \"a\"{2,}", "aaaa"));
  EXPECT_FALSE(accepts("root ::= \"a\"{2,3}", "aaaa"));
  EXPECT_TRUE(accepts("root ::= \"a\" {0, 3} \"b\" +", "bb"));
  EXPECT_TRUE(accepts("root ::= (\"a\" | \"\")*+?", "aaa")) << "what is empty may be repeated";
  EXPECT_TRUE(accepts("root ::= \"a\"{0}", ""));
}

TEST(GbnfReader, NamesTheLineAndTheColumn) {
  EXPECT_EQ(message_of("root ::= \"a\"\nb ::= \"x"), "grammar, line 2, column 7: the quote is not closed on its line");
  EXPECT_EQ(message_of("root ::= [a-z"), "grammar, line 1, column 10: this [ is not closed on its line");
  EXPECT_EQ(message_of("root ::= (\"a\""), "grammar, line 1, column 10: this ( is not closed");
  EXPECT_EQ(message_of("root = \"a\""), "grammar, line 1, column 6: expected ::= behind 'root'");
  EXPECT_EQ(message_of("root ::= \"a\" )"), "grammar, line 1, column 14: expected the end of rule 'root', found ')'");
  EXPECT_EQ(message_of("root ::= [z-a]"),
            "grammar, line 1, column 11: the range ends before it begins: write the smaller character first");
  EXPECT_EQ(message_of("root ::= \"\\q\"").substr(0, 55), "grammar, line 1, column 11: this escape is not known; t");
  EXPECT_EQ(message_of("root ::= \"\\uD800\"").substr(0, 57),
            "grammar, line 1, column 11: this number is no character's");
  EXPECT_EQ(message_of("root ::= \"\xFF\""), "grammar, line 1, column 11: these bytes are not UTF-8");
  EXPECT_EQ(message_of("*"), "grammar, line 1, column 1: expected a rule (name ::= …), found '*'");
}

TEST(GbnfReader, NamesRulesThatAreMissingOrThereTwice) {
  EXPECT_EQ(message_of("root ::= \"a\" item\n"),
            "grammar, line 1, column 14: there is no rule 'item'; write item ::= … or name another");
  EXPECT_EQ(message_of("root ::= \"a\"\nroot ::= \"b\"\n"),
            "grammar, line 2, column 1: rule 'root' is defined twice: join the two with |");
  EXPECT_EQ(message_of("rot ::= \"a\"\n"),
            "the grammar has no rule 'root', with which a text begins: write root ::= …");
  EXPECT_EQ(message_of("", "program"),
            "the grammar has no rule 'program', with which a text begins: write program ::= …");
}

TEST(GbnfReader, BoundsWhatAGrammarMayAskFor) {
  EXPECT_EQ(message_of("root ::= \"a\"{2001}"),
            "grammar, line 1, column 14: at most 2000 repetitions can be asked for: write * or +");
  EXPECT_EQ(message_of("root ::= \"a\"{1,99999999999999999999}").substr(0, 37),
            "grammar, line 1, column 16: at most 2");
  EXPECT_EQ(message_of("root ::= \"a\"{3,2}"), "grammar, line 1, column 13: {m,n} needs an m that is at most n");
  const std::string deep = "root ::= " + std::string(101, '(') + "\"a\"" + std::string(101, ')');
  EXPECT_EQ(message_of(deep).substr(0, 52), "grammar, line 1, column 110: parentheses are nested ");
  EXPECT_NE(message_of("root ::= \"a\"*********"), "");
  EXPECT_NE(message_of(std::string(5 << 20, ' ')), "");
}

}  // namespace
}  // namespace cudal1
