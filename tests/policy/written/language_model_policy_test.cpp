// What a language model says becomes programs to judge, and what was wrong with them goes back to it.
#include "policy/written/language_model_policy.hpp"

#include <gtest/gtest.h>

#include <set>

#include "device/vgpu/model/kernel_report.hpp"
#include "sample_graphs.hpp"
#include "scripted_generator.hpp"

namespace cudal1 {
namespace {

LanguageModelOptions one_at_a_time() {
  LanguageModelOptions options;
  options.form = PromptForm::compact;
  options.samples_a_prompt = 1;
  return options;
}

class LanguageModelPolicyTest : public testing::Test {
 protected:
  LanguageModelPolicy policy_of(Scripted& generator, const LanguageModelOptions& options = one_at_a_time()) {
    PromptSubject subject{"chain", "", sample::chain(), "", vgpu::find_profile("h200"), {}};
    return LanguageModelPolicy({generator, std::move(subject), options, Random(1),
                                [this](const std::string& problem) { problems_.push_back(problem); }});
  }

  std::vector<std::string> problems_;
};

ScoredProgram right(const std::string& text, double reward) { return {text, reward, 0.1}; }
ScoredProgram wrong(const std::string& text, const std::string& message) {
  return {text, 0.0, 0.0, {Status::plan_error, message, {1, 5}}};
}

TEST_F(LanguageModelPolicyTest, ProposesTheProgramInAnAnswer) {
  Scripted model({"Analysis: fewer launches.\n//! graph\n"});
  LanguageModelPolicy policy = policy_of(model);
  EXPECT_EQ(policy.propose({}), "//! graph\n");
  EXPECT_EQ(policy.totals().programs, 1);
  EXPECT_EQ(policy.totals().prompt_tokens, 100);
  EXPECT_EQ(policy.totals().new_tokens, 10);
  EXPECT_DOUBLE_EQ(policy.totals().cost, 0.5);
}

TEST_F(LanguageModelPolicyTest, SamplesOfOnePromptAreProposedOneAfterTheOther) {
  Scripted model({"//! graph\n", "//! fuse gelu_1\n"});
  LanguageModelOptions options = one_at_a_time();
  options.samples_a_prompt = 2;
  LanguageModelPolicy policy = policy_of(model, options);
  EXPECT_EQ(policy.propose({}), "//! graph\n");
  EXPECT_EQ(policy.propose({}), "//! fuse gelu_1\n");
  EXPECT_EQ(model.asked.size(), 1u);
}

TEST_F(LanguageModelPolicyTest, ShowsScoredProgramsThatWereRight) {
  Scripted model({"//! graph\n"});
  LanguageModelPolicy policy = policy_of(model);
  policy.propose({right("//! fuse gelu_1 softmax_1\n", 1.5), wrong("//! fuse nothing\n", "no such node")});
  const std::string& shown = model.asked.front().messages.front().text;
  EXPECT_NE(shown.find("score 1.50"), std::string::npos) << shown;
  EXPECT_NE(shown.find("//! fuse gelu_1 softmax_1"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("fuse nothing"), std::string::npos) << shown;
}

TEST_F(LanguageModelPolicyTest, ShowsWhereTheTimeOfProgramsGoesWhereAsked) {
  vgpu::ProfileReport report;
  report.rows.push_back({.name = "gelu_softmax", .milliseconds = 1.0, .bound = "DRAM"});
  report.sort();
  ScoredProgram known = right("//! fuse gelu_1 softmax_1\n", 1.5);
  known.profile = to_text(report);
  for (const bool asked : {false, true}) {
    Scripted model({"//! graph\n"});
    LanguageModelOptions options = one_at_a_time();
    options.profiles = asked;
    LanguageModelPolicy policy = policy_of(model, options);
    policy.propose({known});
    const std::string& shown = model.asked.front().messages.front().text;
    EXPECT_EQ(shown.find("Time: gelu_softmax 100% (DRAM)") != std::string::npos, asked) << shown;
  }
}

TEST_F(LanguageModelPolicyTest, CompactPromptsLeaveNoPlaceToProgramsThatTheyCannotShow) {
  Scripted model({"//! graph\n"});
  LanguageModelPolicy policy = policy_of(model);
  std::vector<ScoredProgram> seen{right("//! fuse gelu_1\n", 1.25)};
  for (int i = 0; i < 20; ++i)
    seen.push_back(right("__global__ void k" + std::to_string(i) + "() {}\n//! graph\n", 2.0 + 0.2 * i));
  policy.propose(seen);
  const std::string& shown = model.asked.front().messages.front().text;
  EXPECT_NE(shown.find("//! fuse gelu_1\n"), std::string::npos) << shown;
}

TEST_F(LanguageModelPolicyTest, ProgramsAreShownAsAskedInAnyOrder) {
  LanguageModelOptions options = one_at_a_time();
  options.order = ExemplarOrder::as_given;
  options.shows_scores = false;
  options.as_shown = [](const std::string& program) { return program.substr(0, program.size() - 1) + " : lanes=32\n"; };
  std::set<bool> faster_first;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Scripted model({"//! graph\n"});
    PromptSubject subject{"chain", "", sample::chain(), "", vgpu::find_profile("h200"), {}};
    LanguageModelPolicy policy({model, std::move(subject), options, Random(seed), [](const std::string&) {}});
    policy.propose({right("//! fuse gelu_1\n", 1.25), right("//! fuse softmax_1\n", 2.0)});
    const std::string& shown = model.asked.front().messages.front().text;
    const std::size_t slow = shown.find("//! fuse gelu_1 : lanes=32");
    const std::size_t fast = shown.find("//! fuse softmax_1 : lanes=32");
    ASSERT_NE(slow, std::string::npos) << shown;
    ASSERT_NE(fast, std::string::npos) << shown;
    EXPECT_EQ(shown.find("score"), std::string::npos) << shown;
    faster_first.insert(fast < slow);
  }
  EXPECT_EQ(faster_first.size(), 2u) << "the order must not tell which is faster";
}

TEST_F(LanguageModelPolicyTest, ATaskThatHasNoRoomInAPromptIsLeftToOthersWhereThereAreSome) {
  Scripted model({"//! graph\n"});
  LanguageModelOptions options = one_at_a_time();
  options.context_tokens = 20;
  LanguageModelPolicy alone = policy_of(model, options);
  EXPECT_THROW(alone.propose({}), Error);
  options.passes_without_prompt = true;
  LanguageModelPolicy one_of_several = policy_of(model, options);
  EXPECT_EQ(one_of_several.propose({}), std::nullopt);
  EXPECT_EQ(one_of_several.propose({}), std::nullopt);
  ASSERT_EQ(problems_.size(), 1u) << "said once";
  EXPECT_NE(problems_.front().find("does not fit"), std::string::npos);
  EXPECT_TRUE(model.asked.empty());
}

TEST_F(LanguageModelPolicyTest, NeverProposesWhatWasProposedOrSeen) {
  Scripted model({"//! graph\n", "//! graph\n", "//! fuse gelu_1\n", "//! fuse softmax_1\n"});
  LanguageModelPolicy policy = policy_of(model);
  EXPECT_EQ(policy.propose({}), "//! graph\n");
  EXPECT_EQ(policy.propose({right("//! fuse gelu_1\n", 1.1)}), "//! fuse softmax_1\n");
  EXPECT_EQ(policy.totals().copies, 2);
}

TEST_F(LanguageModelPolicyTest, EverySampleHasANumberOfItsOwn) {
  Scripted model({"//! graph\n", "//! graph\n", "//! fuse gelu_1\n", "//! graph\n"});
  LanguageModelOptions options = one_at_a_time();
  options.samples_a_prompt = 2;
  LanguageModelPolicy policy = policy_of(model, options);
  policy.propose({});
  policy.propose({});
  ASSERT_EQ(model.asked.size(), 2u);
  EXPECT_EQ(model.asked[0].first_sample, 0u);
  EXPECT_EQ(model.asked[1].first_sample, 2u);
}

TEST_F(LanguageModelPolicyTest, AProgramThatFailedGoesBackWithItsError) {
  Scripted model({"//! fuse gelu_2\n", "//! fuse gelu_1\n"});
  LanguageModelPolicy policy = policy_of(model);
  EXPECT_EQ(policy.propose({}), "//! fuse gelu_2\n");
  EXPECT_EQ(policy.propose({wrong("//! fuse gelu_2\n", "there is no node 'gelu_2'")}), "//! fuse gelu_1\n");
  ASSERT_EQ(model.asked.size(), 2u);
  ASSERT_EQ(model.asked[1].messages.size(), 3u);
  EXPECT_EQ(model.asked[1].messages[1].role, ChatMessage::Role::assistant);
  EXPECT_NE(model.asked[1].messages[2].text.find("there is no node 'gelu_2'"), std::string::npos);
  EXPECT_EQ(policy.totals().repairs, 1);
}

TEST_F(LanguageModelPolicyTest, WithoutRepairTurnsNothingGoesBack) {
  Scripted model({"//! fuse gelu_2\n", "//! graph\n"});
  LanguageModelOptions options = one_at_a_time();
  options.repair_turns = 0;
  LanguageModelPolicy policy = policy_of(model, options);
  policy.propose({});
  policy.propose({wrong("//! fuse gelu_2\n", "there is no node 'gelu_2'")});
  EXPECT_EQ(model.asked[1].messages.size(), 1u);
  EXPECT_EQ(policy.totals().repairs, 0);
}

TEST_F(LanguageModelPolicyTest, OthersFailuresAreNotItsBusiness) {
  Scripted model({"//! graph\n"});
  LanguageModelPolicy policy = policy_of(model);
  policy.propose({wrong("//! fuse of_another_policy\n", "no such node")});
  EXPECT_EQ(model.asked[0].messages.size(), 1u);
}

TEST_F(LanguageModelPolicyTest, AnswersWithoutAProgramAreCountedByKind) {
  Scripted model({"The weather is fine.", "I'm sorry, but I cannot help with that.", "//! graph\n"});
  LanguageModelOptions options = one_at_a_time();
  options.repair_turns = 0;
  LanguageModelPolicy policy = policy_of(model, options);
  EXPECT_EQ(policy.propose({}), "//! graph\n");
  EXPECT_EQ(policy.totals().no_program, 1);
  EXPECT_EQ(policy.totals().refusals, 1);
  EXPECT_EQ(policy.totals().samples, 3);
}

TEST_F(LanguageModelPolicyTest, GivesUpAfterSomeFruitlessAsks) {
  Scripted model({"One.", "Two.", "Three.", "//! graph\n"});
  LanguageModelOptions options = one_at_a_time();
  options.most_fruitless_asks = 3;
  options.repair_turns = 0;
  LanguageModelPolicy policy = policy_of(model, options);
  EXPECT_EQ(policy.propose({}), std::nullopt);
  EXPECT_EQ(model.asked.size(), 3u);
}

TEST_F(LanguageModelPolicyTest, WhoDoesNotAnswerIsAskedOnceAndTheReasonIsOneLineHoweverManySamplesItHas) {
  Scripted model({});
  LanguageModelOptions options = one_at_a_time();
  options.samples_a_prompt = 5;
  LanguageModelPolicy policy = policy_of(model, options);
  EXPECT_EQ(policy.propose({}), std::nullopt);
  EXPECT_EQ(model.asked.size(), 1u);
  EXPECT_EQ(policy.totals().failures, 5);
  EXPECT_EQ(policy.propose({}), std::nullopt) << "later it is asked again";
  EXPECT_EQ(model.asked.size(), 2u);
  EXPECT_EQ(problems_, std::vector<std::string>{"the server does not answer"});
}

}  // namespace
}  // namespace cudal1
