// Answers under a grammar, token by token: what may come, and the same again for the trainer.
#include "train/rollout/answer_grammars.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/random.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::int32_t end_token = 256, analysis_token = 257, stop_and_line_token = 258, vocabulary = 259;

//! Bytes, the end of a text, "Analysis: " and ".\n//!" in one token each.
std::shared_ptr<const TokenVocabulary> bytes_and_more() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  tokens.insert(tokens.end(), {"", "Analysis: ", ".\n//!"});
  return std::make_shared<const TokenVocabulary>(std::move(tokens), std::vector<std::int32_t>{end_token});
}

const std::string answers = R"(root ::= "Analysis: " [^\x00-\x1F\x7F]+ "\n" "//! graph" "\n"?)";

std::vector<DrawnToken> drawn(const std::vector<std::int32_t>& ids) {
  std::vector<DrawnToken> tokens;
  for (const std::int32_t id : ids) tokens.push_back({id, 0.0F, 0.0F, false});
  return tokens;
}

std::vector<std::int32_t> ids_of(const std::string& text) {
  std::vector<std::int32_t> ids;
  for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
  return ids;
}

//! A text of the grammar as the sampler would draw it; sets of what was allowed on the way.
std::vector<std::int32_t> sample(AnswerGrammars& grammars, Random random, std::vector<AllowedTokens>& allowed,
                                 std::size_t most) {
  const std::unique_ptr<TokenConstraint> constraint = grammars.constraint(answers)();
  std::vector<std::int32_t> ids;
  while (ids.size() < most) {
    allowed.emplace_back(vocabulary);
    constraint->allow(allowed.back());
    std::vector<std::int32_t> choices;
    for (std::int32_t id = 0; id < vocabulary; ++id)
      if (allowed.back().allows(static_cast<std::size_t>(id))) choices.push_back(id);
    ids.push_back(choices.at(random.below(choices.size())));
    if (ids.back() == end_token) break;
    constraint->accept(ids.back());
  }
  return ids;
}

TEST(AnswerGrammars, TheTrainerSeesTheMasksThatTheSamplerDrewUnder) {
  std::set<std::int32_t> last;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    AnswerGrammars sampling(bytes_and_more()), training(bytes_and_more());
    std::vector<AllowedTokens> allowed;
    const std::vector<std::int32_t> ids = sample(sampling, Random(seed), allowed, 1000);
    last.insert(ids.back());
    const auto masks = training.of(answers)->allowed_along(drawn(ids));
    ASSERT_EQ(masks.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(masks[i]->bits, allowed[i].words) << seed << " " << i;
  }
  EXPECT_EQ(last, std::set<std::int32_t>{end_token}) << "every answer comes to its end";
}

TEST(AnswerGrammars, ALongAnalysisHasToEnd) {
  AnswerGrammars grammars(bytes_and_more());
  const auto grammar = grammars.of(answers);
  std::vector<std::int32_t> ids = {analysis_token};
  ids.resize(most_analysis_bytes - 10, 'x');  // two bytes below the bound
  ids.push_back('x');
  ids.push_back('\n');
  const auto masks = grammar->allowed_along(drawn(ids));
  EXPECT_TRUE(masks[ids.size() - 2]->allows('x'));
  EXPECT_TRUE(masks[ids.size() - 2]->allows('\n'));
  EXPECT_FALSE(masks.back()->allows('x'));
  EXPECT_EQ(masks.back()->allowed_count, 2) << "the line's end alone, and in a longer token";
  EXPECT_TRUE(masks.back()->allows(stop_and_line_token));
  AnswerGrammar::Place place = grammar->start();
  for (const std::int32_t id : ids) grammar->advance(place, id);
  EXPECT_EQ(grammar->allowed(place)->forced, '/') << "behind the line there is no bound";
}

TEST(AnswerGrammars, ATokenThatCouldNotComeIsRefusedWithItsPlace) {
  AnswerGrammars grammars(bytes_and_more());
  std::vector<std::int32_t> ids = ids_of("Analysis: a\n//! graph");
  EXPECT_NO_THROW(grammars.of(answers)->allowed_along(drawn(ids)));
  for (const std::int32_t wrong : {std::int32_t{'x'}, end_token, vocabulary, -1}) {
    ids[12] = wrong;
    try {
      grammars.of(answers)->allowed_along(drawn(ids));
      ADD_FAILURE() << wrong;
    } catch (const Error& problem) {
      EXPECT_NE(std::string(problem.what()).find("token 13 of an answer"), std::string::npos) << problem.what();
    }
  }
}

TEST(AnswerGrammars, ThoseThatWereAskedForLastAreKept) {
  AnswerGrammars grammars(bytes_and_more(), 2);
  const auto first = grammars.of("root ::= \"a\""), second = grammars.of("root ::= \"b\"");
  EXPECT_EQ(grammars.of("root ::= \"a\""), first);
  grammars.of("root ::= \"c\"");
  EXPECT_EQ(grammars.of("root ::= \"a\""), first);
  EXPECT_NE(grammars.of("root ::= \"b\""), second) << "made anew";
}

}  // namespace
}  // namespace cudal1
