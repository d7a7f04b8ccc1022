// Samples of policies with a model and a judge made up for the purpose.
#include "optimize/policy_samples.hpp"

#include <gtest/gtest.h>

#include "sample_graphs.hpp"
#include "scripted_generator.hpp"

namespace cudal1 {
namespace {

//! Programs with "graph" in them are right, twice as fast; all others are refused by the planner.
class PolicySamplesTest : public testing::Test {
 protected:
  SampleParts parts() {
    SampleParts made;
    made.start = [this](const std::string& text) { started.push_back(text); };
    made.finish = [this](double) { return judged(started.at(finished++)); };
    made.take = [this](JudgedSample sample) {
      taken.push_back(std::move(sample));
      return taken.size() < most_taken;
    };
    made.stop = [this] { return finished >= stop_after; };
    return made;
  }

  static Evaluation judged(const std::string& text) {
    Evaluation evaluation;
    const bool is_right = text.find("graph") != std::string::npos;
    evaluation.status = is_right ? Status::ok : Status::plan_error;
    evaluation.failure = {evaluation.status, is_right ? "" : "there is no such node: " + text};
    if (is_right) evaluation.reward = 2.0;
    return evaluation;
  }

  AnswerWriter writer_of(Scripted& model, int repair_turns = 0) {
    LanguageModelOptions options;
    options.form = PromptForm::compact;
    options.repair_turns = repair_turns;
    PromptSubject subject{"chain", "", sample::chain(), "", vgpu::find_profile("h200"), {}};
    return {model, std::move(subject), options, Random(1), [](const std::string&) {}};
  }

  std::vector<std::string> answers() const {
    std::vector<std::string> kinds;
    for (const JudgedSample& sample : taken) kinds.push_back(sample.answer);
    return kinds;
  }

  std::vector<std::string> started;
  std::size_t finished = 0, most_taken = 100, stop_after = 100;
  std::vector<JudgedSample> taken;
};

TEST_F(PolicySamplesTest, EveryAnswerIsASampleWhateverItHolds) {
  Scripted model(
      {"//! graph\n", "I'm sorry, but I cannot help with that.", "The weather is fine.", "//! fuse gelu_2\n"});
  AnswerWriter writer = writer_of(model);
  EXPECT_TRUE(sample_answers(writer, {}, {0, 1, 2, 3, 4}, parts()));
  EXPECT_EQ(answers(), (std::vector<std::string>{"program", "refusal", "no_program", "program", "not_answered"}));
  EXPECT_EQ(taken[0].evaluation->status, Status::ok);
  EXPECT_EQ(taken[3].evaluation->status, Status::plan_error);
  EXPECT_FALSE(taken[1].evaluation.has_value());
  EXPECT_EQ(taken[4].reason, "the server does not answer");
  EXPECT_EQ(taken[0].prompt_tokens, 100);
  EXPECT_EQ(taken[0].new_tokens, 10);
  EXPECT_DOUBLE_EQ(taken[0].cost, 0.5);
}

TEST_F(PolicySamplesTest, WhatWasCutOffIsKeptAndNotJudged) {
  Scripted model({"```cuda\n//! graph\n"});
  model.finish = FinishReason::length;
  AnswerWriter writer = writer_of(model);
  sample_answers(writer, {}, {0}, parts());
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].answer, "cut_off");
  EXPECT_NE(taken[0].program.find("//! graph"), std::string::npos);
  EXPECT_TRUE(started.empty());
}

TEST_F(PolicySamplesTest, CopiesAreJudgedOnceAndCountEach) {
  Scripted model({"//! graph\n", "//! graph\n", "//! graph\n"});
  AnswerWriter writer = writer_of(model);
  sample_answers(writer, {}, {0, 1, 2}, parts());
  EXPECT_EQ(started.size(), 1u);
  ASSERT_EQ(taken.size(), 3u);
  for (const JudgedSample& sample : taken) EXPECT_EQ(sample.evaluation->status, Status::ok);
}

TEST_F(PolicySamplesTest, NoAnswerIsShownToAnother) {
  Scripted model({"//! graph\n", "//! graph : branches=2\n"});
  AnswerWriter writer = writer_of(model);
  sample_answers(writer, {}, {0, 1}, parts());
  ASSERT_EQ(model.asked.size(), 1u) << "one prompt for all";
  EXPECT_EQ(model.asked.front().messages.front().text.find("score"), std::string::npos);
}

TEST_F(PolicySamplesTest, WhatIsOnRecordIsShown) {
  Scripted model({"//! graph\n"});
  AnswerWriter writer = writer_of(model);
  sample_answers(writer, {{"//! fuse gelu_1 softmax_1\n", 1.5, 0.1}}, {0}, parts());
  EXPECT_NE(model.asked.front().messages.front().text.find("score 1.50"), std::string::npos);
}

TEST_F(PolicySamplesTest, OnlyMissingNumbersAreAskedFor) {
  Scripted model({"//! graph\n", "//! graph\n", "//! graph\n"});
  AnswerWriter writer = writer_of(model);
  sample_answers(writer, {}, {2, 3, 7}, parts());
  ASSERT_EQ(model.asked.size(), 2u);
  EXPECT_EQ(model.asked[0].first_sample, 2u);
  EXPECT_EQ(model.asked[0].samples, 2);
  EXPECT_EQ(model.asked[1].first_sample, 7u);
  EXPECT_EQ(taken[2].number, 7);
}

TEST_F(PolicySamplesTest, ASampleIsWhatItsLastAnswerIs) {
  Scripted model({"//! fuse gelu_2\n", "//! graph\n", "//! graph : branches=2\n"});
  AnswerWriter writer = writer_of(model, 1);
  sample_answers(writer, {}, {0, 1}, parts());
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].number, 1) << "the one that needed no repair";
  EXPECT_EQ(taken[1].number, 0);
  EXPECT_EQ(taken[1].repairs, 1);
  EXPECT_EQ(taken[1].evaluation->status, Status::ok);
  EXPECT_EQ(taken[1].new_tokens, 20) << "of both answers";
}

TEST_F(PolicySamplesTest, EndsWhenNoMoreAreWanted) {
  Scripted model({"//! graph\n", "//! graph\n", "//! graph\n"});
  AnswerWriter writer = writer_of(model);
  most_taken = 2;
  EXPECT_FALSE(sample_answers(writer, {}, {0, 1, 2}, parts()));
  EXPECT_EQ(taken.size(), 2u);
}

TEST_F(PolicySamplesTest, DoesNotBelieveWhatWasJudgedWhileSomebodyAskedToStop) {
  Scripted model({"//! graph\n", "//! graph : branches=2\n"});
  AnswerWriter writer = writer_of(model);
  stop_after = 2;
  EXPECT_FALSE(sample_answers(writer, {}, {0, 1}, parts()));
  EXPECT_EQ(taken.size(), 1u);
}

//! Proposes "graph 1", "graph 2" … and remembers what it was shown.
class TwoProposals : public Policy {
 public:
  std::optional<std::string> propose(const std::vector<ScoredProgram>& seen) override {
    shown = seen;
    return next_ <= 2 ? std::optional("graph " + std::to_string(next_++)) : std::nullopt;
  }
  std::vector<ScoredProgram> shown;

 private:
  int next_ = 1;
};

TEST_F(PolicySamplesTest, ASearchThatHasNothingMoreHasFailedSamples) {
  TwoProposals policy;
  EXPECT_TRUE(sample_proposals(policy, {{"known", 1.25, 0.5}}, {4, 5, 6}, parts()));
  EXPECT_EQ(answers(), (std::vector<std::string>{"program", "program", "nothing_proposed"}));
  EXPECT_EQ(taken[2].number, 6);
  EXPECT_EQ(policy.shown.front().text, "known");
}

}  // namespace
}  // namespace cudal1
