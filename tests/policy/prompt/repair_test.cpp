// A failed program goes back with its error as long as another answer may help.
#include "policy/prompt/repair.hpp"

#include <gtest/gtest.h>

#include "sample_graphs.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

Prompt sample_prompt(const PromptOptions& options = {}) {
  return make_prompt({"chain", "", sample::chain(), "", vgpu::find_profile("h200"), {}}, options);
}

FailedAttempt attempt(const std::string& program, const std::string& message, Status status = Status::plan_error) {
  return {program, Failure{status, message, {1, 5}}};
}

TEST(Repair, TellsStatusPlaceAndMessageOfARealFailure) {
  const std::string program = "//! graph\n//! fuse gelu_1 softmax1\n";
  const auto plan = plan_program(sample::chain(), program);
  ASSERT_FALSE(plan);
  const std::string text = repair_text({program, plan.failure()}, PromptForm::full);
  EXPECT_NE(text.find("`plan_error`"), std::string::npos) << text;
  EXPECT_NE(text.find("line 2, column 17: there is no node 'softmax1'; did you mean 'softmax_1'?"), std::string::npos)
      << text;
  EXPECT_NE(text.find("```\n//! fuse gelu_1 softmax1\n                ^\n```\n"), std::string::npos) << text;
  const std::string compact = repair_text({program, plan.failure()}, PromptForm::compact);
  EXPECT_NE(compact.find("Failed, plan_error: line 2, column 17: there is no node"), std::string::npos) << compact;
}

TEST(Repair, ShowsTheBeginningOfTheCompilersLogAndItCannotCloseItsBlock) {
  FailedAttempt failed = attempt("//! graph\n", "k.cu(3): error", Status::compile_error);
  failed.failure.details = "``` error: first\n";
  for (int i = 0; i < 100; ++i) failed.failure.details += "another " + std::to_string(i) + "\n";
  const std::string text = repair_text(failed, PromptForm::full);
  EXPECT_NE(text.find("````\n``` error: first\nanother 0\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("another 50"), std::string::npos);
}

TEST(Repair, PlacesThatTheProgramDoesNotHaveAreNotQuoted) {
  for (const SourcePosition at :
       {SourcePosition{}, SourcePosition{99, 1}, SourcePosition{1, 500}, SourcePosition{-1, -1}})
    EXPECT_FALSE(repair_text({"//! graph\n", {Status::timeout, "slow", at}}, PromptForm::full).empty());
  EXPECT_EQ(repair_text({"//! graph\n", {Status::timeout, "slow", {}}}, PromptForm::full).find("column"),
            std::string::npos);
}

TEST(RepairConversation, SendsThePromptThenPairsOfAttemptAndError) {
  const Prompt prompt = sample_prompt();
  RepairConversation conversation(prompt, {}, 3);
  ASSERT_EQ(conversation.messages().size(), 1u);
  EXPECT_EQ(conversation.messages()[0].text, prompt.text);
  ASSERT_TRUE(conversation.add_failure(attempt("//! fuse a\n", "no 'a'")));
  ASSERT_TRUE(conversation.add_failure(attempt("//! fuse b\n", "no 'b'")));
  ASSERT_EQ(conversation.messages().size(), 5u);
  EXPECT_EQ(conversation.messages()[1].role, ChatMessage::Role::assistant);
  EXPECT_EQ(conversation.messages()[1].text, "```cuda\n//! fuse a\n```\n");
  EXPECT_EQ(conversation.messages()[2].role, ChatMessage::Role::user);
  EXPECT_NE(conversation.messages()[4].text.find("no 'b'"), std::string::npos);
  EXPECT_EQ(conversation.turns(), 2);
  EXPECT_FALSE(conversation.is_over());
}

TEST(RepairConversation, EndsAfterItsTurns) {
  RepairConversation conversation(sample_prompt(), {}, 2);
  EXPECT_TRUE(conversation.add_failure(attempt("1", "one")));
  EXPECT_TRUE(conversation.add_failure(attempt("2", "two")));
  EXPECT_FALSE(conversation.add_failure(attempt("3", "three")));
  EXPECT_EQ(conversation.why_over(), "all 2 turns are used");
  EXPECT_EQ(conversation.messages().size(), 5u);
  EXPECT_FALSE(conversation.add_failure(attempt("4", "four"))) << "it was over";
  RepairConversation none(sample_prompt(), {}, 0);
  EXPECT_FALSE(none.add_failure(attempt("1", "one")));
}

TEST(RepairConversation, EndsAtTheSameErrorTwice) {
  RepairConversation conversation(sample_prompt(), {}, 5);
  EXPECT_TRUE(conversation.add_failure(attempt("1", "no node")));
  EXPECT_TRUE(conversation.add_failure(attempt("2", "no node", Status::parse_error))) << "another status";
  EXPECT_FALSE(conversation.add_failure(attempt("3", "no node")));
  EXPECT_EQ(conversation.why_over(), "the program has the same error as an earlier one");
}

TEST(RepairConversation, EndsAtAProgramThatHasFailedAlready) {
  RepairConversation conversation(sample_prompt(), {}, 5);
  EXPECT_TRUE(conversation.add_failure(attempt("//! graph\n//! fuse a", "one")));
  EXPECT_TRUE(conversation.add_failure(attempt("//! fuse a", "two")));
  EXPECT_FALSE(conversation.add_failure(attempt("//!  graph \n\n//! fuse a\n", "three")));
  EXPECT_EQ(conversation.why_over(), "the model wrote a program that has failed already");
}

TEST(RepairConversation, EndsWhereTheProgramIsNotToBlame) {
  for (const Status status : {Status::judge_error, Status::ok, Status::unstable}) {
    RepairConversation conversation(sample_prompt(), {}, 5);
    EXPECT_FALSE(conversation.add_failure(attempt("1", "x", status))) << to_string(status);
    EXPECT_NE(conversation.why_over().find(to_string(status)), std::string::npos);
  }
}

TEST(RepairConversation, AsksAgainForAProgramButNotWhoRefuses) {
  RepairConversation conversation(sample_prompt(), {}, 5);
  EXPECT_TRUE(conversation.add_failure(read_answer("Fusing helps.")));
  EXPECT_NE(conversation.messages().back().text.find("No program could be read from your answer: there is neither"),
            std::string::npos);
  EXPECT_TRUE(conversation.add_failure(read_answer("```cuda\n//! fu", FinishReason::length)));
  EXPECT_NE(conversation.messages().back().text.find("write less"), std::string::npos);
  EXPECT_FALSE(conversation.add_failure(read_answer("I cannot do that.")));
  EXPECT_EQ(conversation.why_over(), "the model refuses");
}

TEST(RepairConversation, ForgetsEarlierTurnsBeforeItLeavesNoRoomForTheAnswer) {
  const PromptOptions options{.form = PromptForm::compact, .context_tokens = 500};
  const Prompt prompt = sample_prompt(options);
  RepairConversation conversation(prompt, options, 10);
  const auto long_one = [](char c) { return "//! fuse " + std::string(200, c) + "\n"; };
  EXPECT_TRUE(conversation.add_failure(attempt(long_one('a'), "one")));
  EXPECT_TRUE(conversation.add_failure(attempt(long_one('b'), "two")));
  ASSERT_EQ(conversation.messages().size(), 3u);
  EXPECT_EQ(conversation.messages()[0].text, prompt.text);
  EXPECT_EQ(conversation.messages()[1].text, long_one('b'));
  EXPECT_FALSE(conversation.add_failure(attempt(std::string(3000, 'c'), "three")));
  EXPECT_EQ(conversation.why_over(), "the prompt and the failed program leave no room for another answer");
}

}  // namespace
}  // namespace cudal1
