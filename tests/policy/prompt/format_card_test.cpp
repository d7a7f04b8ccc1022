// The card is what techniques say of themselves, and its examples are programs.
#include "policy/prompt/format_card.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "policy/prompt/answer_blocks.hpp"
#include "policy/prompt/text_blocks.hpp"
#include "policy/token_count.hpp"
#include "sample_graphs.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

//! What the planner calls its directives, from its own message.
std::vector<std::string> known_directives() {
  const auto plan = plan_program(card_example_task().graph, "//! nonsense\n");
  EXPECT_FALSE(plan);
  if (plan) return {};
  const std::string& message = plan.failure().message;
  const std::string beginning = "the directives are ";
  std::vector<std::string> words;
  const std::string list = message.substr(message.find(beginning) + beginning.size());
  const std::regex word("[a-z]+");
  for (std::sregex_iterator it(list.begin(), list.end(), word), end; it != end; ++it) words.push_back(it->str());
  return words;
}

class FormatCard : public ::testing::TestWithParam<CardLength> {};

TEST_P(FormatCard, HasEveryTechniqueWithItsExampleAndParameters) {
  const std::string card = format_card(all_techniques(), GetParam());
  ASSERT_FALSE(all_techniques().empty());
  for (const Technique* technique : all_techniques()) {
    const TechniqueDescription& described = technique->description();
    SCOPED_TRACE(described.name);
    EXPECT_TRUE(has(card, "//! " + described.example));
    EXPECT_TRUE(has(card, described.name));
    for (const Parameter& parameter : described.parameters)
      EXPECT_TRUE(has(card, parameter.name + "=" + parameter.choices.front() + "|" + parameter.choices[1]))
          << parameter.name;
  }
}

TEST_P(FormatCard, FollowsTheTechniquesThatItIsGiven) {
  const std::string card = format_card(techniques_named({"rows"}), GetParam());
  EXPECT_TRUE(has(card, techniques_named({"rows"}).front()->description().example));
  EXPECT_FALSE(has(card, techniques_named({"pooling"}).front()->description().example));
}

TEST_P(FormatCard, NamesEveryDirective) {
  const std::string card = format_card(all_techniques(), GetParam());
  const auto words = known_directives();
  EXPECT_GE(words.size(), 8u);
  for (const std::string& word : words) EXPECT_TRUE(has(card, "//! " + word) || has(card, "`" + word + "`")) << word;
}

TEST_P(FormatCard, ShowsTheExampleProgram) {
  const std::string card = format_card(all_techniques(), GetParam());
  EXPECT_TRUE(has(card, std::string(card_example_directives())));
  EXPECT_TRUE(has(card, "softmax_1 = softmax"));
  EXPECT_TRUE(has(card, "\"fc.weight\""));
}

INSTANTIATE_TEST_SUITE_P(Lengths, FormatCard, ::testing::Values(CardLength::brief, CardLength::full));

TEST(FormatCardExample, IsPlannedAsItStands) {
  const OpGraph graph = card_example_task().graph;
  for (const std::string_view program : {card_example_directives(), card_example_kernel()}) {
    const auto plan = plan_program(graph, program);
    ASSERT_TRUE(plan) << program << plan.failure().message;
    EXPECT_TRUE(plan.value().has_launches());
    EXPECT_FALSE(plan.value().has_op_steps()) << "the card says that nothing is left to the library";
  }
  EXPECT_EQ(plan_program(graph, card_example_directives()).value().kernels.size(), 2u) << "the card says two kernels";
}

//! All lines `//! …` in it, from the mark to the end of the line or of the code in the line.
std::set<std::string> lines_with_directives(const std::string& card) {
  std::set<std::string> found;
  for (std::size_t at = card.find("//! "); at != std::string::npos; at = card.find("//! ", at + 1))
    found.insert(card.substr(at, card.find_first_of("`\n", at) - at));
  return found;
}

//! Those of techniques are planned by technique_manual_test, each on a graph that it is for.
TEST_P(FormatCard, HasNoDirectivesThatNobodyPlans) {
  std::set<std::string> planned;
  for (const Technique* technique : all_techniques()) planned.insert("//! " + technique->description().example);
  for (const std::string_view program : {card_example_directives(), card_example_kernel()})
    planned.merge(lines_with_directives(std::string(program)));
  int syntax_lines = 0;
  for (const std::string& line : lines_with_directives(format_card(all_techniques(), GetParam()))) {
    if (planned.contains(line)) continue;
    const bool is_syntax = has(line, "…");
    const auto plan = plan_program(sample::two_chains(), line + "\n");
    EXPECT_TRUE(is_syntax || plan) << line << ": " << (plan ? "" : plan.failure().message);
    syntax_lines += is_syntax ? 1 : 0;
  }
  EXPECT_GE(syntax_lines, 1);
}

TEST(FormatCardExample, IncludesHeadersThatThereAre) {
  const std::string card = format_card(all_techniques(), CardLength::full);
  const std::regex header("<(cudal1/[a-z_0-9]+\\.cuh)>");
  int found = 0;
  for (std::sregex_iterator it(card.begin(), card.end(), header), end; it != end; ++it, ++found)
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(CUDAL1_SOURCE_DIR) / "include" / it->str(1)))
        << it->str(1);
  EXPECT_GE(found, 3);
}

TEST(FormatCardLength, FullSaysAllAndBriefFitsASmallContext) {
  const std::string brief = format_card(all_techniques(), CardLength::brief);
  const std::string full = format_card(all_techniques(), CardLength::full);
  EXPECT_LT(estimated_tokens(brief), 3000u) << "of 8192, beside a graph and exemplars";
  EXPECT_LT(estimated_tokens(brief), estimated_tokens(full) / 2);
  EXPECT_EQ(format_card(all_techniques(), CardLength::none), "");
  for (const Technique* technique : all_techniques()) {
    EXPECT_TRUE(has(full, technique->description().helps));
    EXPECT_TRUE(has(full, technique->description().hurts));
    for (const Parameter& parameter : technique->description().parameters)
      for (const std::string& choice : parameter.choices) EXPECT_TRUE(has(full, choice)) << choice;
  }
}

TEST(DirectiveWords, AreThoseOfThePlannerAndTheWriter) {
  const auto words = known_directives();
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()), directive_words());
}

}  // namespace
}  // namespace cudal1
