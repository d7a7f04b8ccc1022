// A small random model held by several real processes: what they compute is what one computes.
#include "train/parallel/parallel_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/files/lora_adapter.hpp"
#include "writing_model.hpp"

namespace cudal1 {
namespace {

using Pairs = std::vector<PromptAndAnswer>;

class ParallelModelTest : public ::testing::Test {
 protected:
  ParallelModelTest() { write_file_atomically(file(), testing::writing_model(256).bytes()); }
  std::filesystem::path file() const { return folder.path() / "writing.gguf"; }
  AdapterModelOptions options() const {
    AdapterModelOptions made;
    made.model = file();
    made.rank = 8;
    made.alpha = 16.0;
    made.seed = 3;
    made.context_tokens = 256;
    made.tokens_at_once = 64;
    made.slots = 4;
    return made;
  }
  static Pairs pairs(std::size_t count) {
    const Pairs all{
        {"one", "fuse a"}, {"two", "graph"}, {"three", "fuse b c"}, {"four", "x"}, {"longer", "fuse * now"}};
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  //! Answers of the model that is sampled from, whoever learns from them.
  std::vector<WeighedAnswer> weighed(std::int64_t samples, const std::string& grammar = {}) {
    AdapterModel model(options());
    const PromptToAnswer asked{.prompt = "say", .samples = samples, .seed = 5, .answer_tokens = 9, .grammar = grammar};
    std::vector<WeighedAnswer> made;
    const auto answers = model.answers(std::span(&asked, 1));
    for (const SampledAnswer& answer : answers[0])
      made.push_back({"say", answer.tokens, made.empty() ? 2.0 : -2.0 / static_cast<double>(samples - 1), grammar});
    return made;
  }
  LoraAdapter weights_of(LearningModel& model) const {
    model.save_adapter(folder.path() / "saved");
    return load_lora_adapter(folder.path() / "saved");
  }
  //! The largest difference of two weights.
  double apart(LearningModel& a, LearningModel& b) const {
    const LoraAdapter left = weights_of(a), right = weights_of(b);
    double largest = 0.0;
    const auto compare = [&](const std::vector<float>& x, const std::vector<float>& y) {
      ASSERT_EQ(x.size(), y.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        largest = std::max(largest, std::abs(static_cast<double>(x[i]) - y[i]));
    };
    for (const auto& [name, module] : left.modules) {
      compare(module.a, right.modules.at(name).a);
      compare(module.b, right.modules.at(name).b);
    }
    return largest;
  }
  void expect_same_supervised(std::size_t texts, std::size_t processes) {
    AdapterModel alone(options());
    ParallelModel together(options(), {.processes = processes});
    for (int step = 0; step < 4; ++step) {
      const SupervisedUpdate one = alone.learn(pairs(texts), 1e-3), many = together.learn(pairs(texts), 1e-3);
      EXPECT_NEAR(one.loss, many.loss, 1e-6) << step;
      EXPECT_NEAR(one.gradient_length, many.gradient_length, 1e-6 * one.gradient_length) << step;
      EXPECT_EQ(one.tokens, many.tokens);
      EXPECT_EQ(one.answer_tokens, many.answer_tokens);
    }
    EXPECT_LT(apart(alone, together), 1e-6);
    EXPECT_NEAR(alone.loss_of(pairs(5)), together.loss_of(pairs(5)), 1e-6);
  }
  void expect_same_contrastive(const GrpoOptions& grpo, std::int64_t samples, std::size_t processes,
                               const std::string& grammar = {}) {
    expect_same_contrastive(grpo, weighed(samples, grammar), processes);
  }
  void expect_same_contrastive(const GrpoOptions& grpo, const std::vector<WeighedAnswer>& answers,
                               std::size_t processes) {
    AdapterModel alone(options());
    ParallelModel together(options(), {.processes = processes});
    alone.keep_as_reference();
    together.keep_as_reference();
    for (int step = 0; step < 3; ++step) {
      const PolicyUpdate one = alone.improve(answers, grpo, 2, 1e-3), many = together.improve(answers, grpo, 2, 1e-3);
      EXPECT_NEAR(one.loss, many.loss, 1e-6) << step;
      EXPECT_NEAR(one.policy_loss, many.policy_loss, 1e-6) << step;
      EXPECT_NEAR(one.kl, many.kl, 1e-6) << step;
      EXPECT_NEAR(one.largest_ratio, many.largest_ratio, 1e-5) << step;
      EXPECT_NEAR(one.sampler_gap, many.sampler_gap, 1e-5) << step;
      EXPECT_NEAR(one.gradient_length, many.gradient_length, 1e-6 * std::max(1.0, one.gradient_length)) << step;
      EXPECT_EQ(one.clipped_share, many.clipped_share) << step;
      EXPECT_EQ(one.tokens, many.tokens);
    }
    EXPECT_LT(apart(alone, together), 1e-6);
  }

  TemporaryFolder folder;
};

TEST_F(ParallelModelTest, TwoProcessesLearnAsOneDoes) { expect_same_supervised(4, 2); }

TEST_F(ParallelModelTest, AnOddNumberOfTextsAndFewerThanProcesses) {
  expect_same_supervised(5, 2);
  expect_same_supervised(2, 3);
  expect_same_supervised(1, 2);
}

TEST_F(ParallelModelTest, TwoProcessesImproveAsOneDoes) {
  for (const LengthNormalisation normalisation : {LengthNormalisation::per_token, LengthNormalisation::per_sample})
    expect_same_contrastive({.kl_weight = 0.1, .normalisation = normalisation}, 7, 2);
  expect_same_contrastive({}, 2, 3);
}

TEST_F(ParallelModelTest, TwoProcessesImproveAsOneDoesUnderAGrammar) {
  expect_same_contrastive({.kl_weight = 0.1}, 5, 2, R"(root ::= ("fuse" (" " [a-e])+ | "graph" [1-9]) "\n")");
}

TEST_F(ParallelModelTest, TwoProcessesImproveByAnswersOfAnEarlierPolicyAsOneDoes) {
  std::vector<WeighedAnswer> answers = weighed(5);
  for (WeighedAnswer& answer : answers) {
    answer.by_earlier_policy = true;
    for (std::size_t i = 0; i < answer.tokens.size(); ++i)
      answer.tokens[i].policy_log_probability -= i % 2 == 0 ? std::log(2.0F) : std::log(5.0F);
  }
  expect_same_contrastive({.kl_weight = 0.1}, answers, 2);
}

TEST_F(ParallelModelTest, PromptsThatAreDividedHaveTheSameAnswers) {
  const std::vector<PromptToAnswer> asked{{"one", 3, 5, 12}, {"two", 2, 6, 12}, {"three", 1, 7, 12}};
  AdapterModel alone(options());
  ParallelModel together(options(), {.processes = 2, .writes_together = true});
  for (int round = 0; round < 2; ++round) {
    const auto one = alone.answers(asked), many = together.answers(asked);
    ASSERT_EQ(one.size(), many.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one[i].size(), many[i].size());
      for (std::size_t k = 0; k < one[i].size(); ++k) {
        EXPECT_EQ(one[i][k].text, many[i][k].text);
        EXPECT_EQ(one[i][k].finish, many[i][k].finish);
        ASSERT_EQ(one[i][k].tokens.size(), many[i][k].tokens.size());
        for (std::size_t t = 0; t < one[i][k].tokens.size(); ++t)
          EXPECT_NEAR(one[i][k].tokens[t].policy_log_probability, many[i][k].tokens[t].policy_log_probability, 1e-5);
      }
    }
    alone.learn(pairs(3), 1e-3);
    together.learn(pairs(3), 1e-3);
  }
}

TEST_F(ParallelModelTest, WhatTwoHaveSavedThreeGoOnWith) {
  AdapterModel alone(options());
  for (int step = 0; step < 6; ++step) alone.learn(pairs(5), 1e-3);
  ParallelModel two(options(), {.processes = 2});
  for (int step = 0; step < 3; ++step) two.learn(pairs(5), 1e-3);
  two.save_adapter(folder.path() / "adapter");
  two.save_optimiser(folder.path() / "optimiser.safetensors");
  ParallelModel three(options(), {.processes = 3});
  three.learn(pairs(2), 1e-2);  // forgotten by all of them
  three.begin_stage();
  three.load_adapter(folder.path() / "adapter");
  three.load_optimiser(folder.path() / "optimiser.safetensors");
  for (int step = 3; step < 6; ++step) three.learn(pairs(5), 1e-3);
  EXPECT_NEAR(three.loss_of(pairs(5)), alone.loss_of(pairs(5)), 1e-5);
  EXPECT_LT(apart(alone, three), 2e-6);
}

TEST_F(ParallelModelTest, ANumberThatIsNotFiniteIsNamedByWhoeverHasIt) {
  ParallelModel model(options(), {.processes = 2});
  model.keep_as_reference();
  const double before = model.loss_of(pairs(3));
  std::vector<WeighedAnswer> answers = weighed(4);
  for (std::size_t bad = 0; bad < 4; ++bad) {
    std::vector<WeighedAnswer> some = answers;
    some[bad].advantage = std::nan("");
    const PolicyUpdate update = model.improve(some, {}, 2, 1e-2);
    EXPECT_NE(update.why_skipped.find("nan"), std::string::npos) << bad << ": " << update.why_skipped;
  }
  EXPECT_EQ(model.loss_of(pairs(3)), before);
  EXPECT_TRUE(model.improve(answers, {}, 2, 1e-2).why_skipped.empty()) << "all of them go on";
}

TEST_F(ParallelModelTest, AProcessThatDiesIsNamedInOneLine) {
  ParallelModel model(options(), {.processes = 3});
  model.learn(pairs(3), 1e-3);
  ASSERT_EQ(::kill(model.others()[1], SIGKILL), 0);
  try {
    model.learn(pairs(3), 1e-3);
    ADD_FAILURE() << "somebody is missing";
  } catch (const Error& problem) {
    EXPECT_STREQ(problem.what(), "process 3 of 3 ended with signal 9");
  }
}

TEST_F(ParallelModelTest, AProcessThatCannotGoOnSaysWhy) {
  AdapterModelOptions nowhere = options();
  nowhere.model = folder.path() / "nowhere.gguf";
  LearnerProcess other({nowhere, 1, 2});
  Message message;
  EXPECT_EQ(other.channel().receive(message), Channel::Outcome::closed);
  const std::string end = other.how_it_ended();
  EXPECT_TRUE(end.starts_with("ended with exit code 1 (")) << end;
  EXPECT_NE(end.find("nowhere.gguf"), std::string::npos) << end;
}

TEST_F(ParallelModelTest, NobodyIsLeftBehind) {
  std::vector<pid_t> others;
  {
    const ParallelModel model(options(), {.processes = 3});
    others = model.others();
  }
  ASSERT_EQ(others.size(), 2U);
  for (const pid_t other : others) EXPECT_EQ(::kill(other, 0), -1) << "it is gone, and reaped";
}

TEST(GpuOfMember, IsTheNextOfThoseThatAreSeen) {
  EXPECT_EQ(gpu_of_member(nullptr, 2), "2");
  EXPECT_EQ(gpu_of_member("", 1), "1");
  EXPECT_EQ(gpu_of_member("4,GPU-abc,7", 1), "GPU-abc");
  EXPECT_EQ(gpu_of_member("4,GPU-abc,7", 2), "7");
  EXPECT_THROW(gpu_of_member("4", 1), Error);
}

TEST(LearnerMessages, CarryAllBitsThere) {
  const float tiny = std::nextafter(0.1F, 1.0F);
  const WeighedAnswer answer{"p\xff", {{7, tiny, -2.5F, true}}, std::nan(""), "root ::= [^a]", true};
  const GrpoOptions options{0.1, 0.3, 0.02, LengthNormalisation::per_sample};
  const std::string bytes = bytes_of(LearnerOrder(ImproveAnswers{{answer}, options, 3, 1.0 / 3.0}));
  const auto order = std::get<ImproveAnswers>(learner_order_from(bytes));
  EXPECT_EQ(order.answers[0].prompt, "p\xff");
  EXPECT_EQ(order.answers[0].tokens[0].id, 7);
  EXPECT_EQ(order.answers[0].tokens[0].sampled_log_probability, tiny);
  EXPECT_TRUE(order.answers[0].tokens[0].forced);
  EXPECT_TRUE(std::isnan(order.answers[0].advantage));
  EXPECT_EQ(order.answers[0].grammar, "root ::= [^a]");
  EXPECT_TRUE(order.answers[0].by_earlier_policy);
  EXPECT_EQ(order.options.normalisation, LengthNormalisation::per_sample);
  EXPECT_EQ(order.options.kl_weight, 0.02);
  EXPECT_EQ(order.updates, 3);
  EXPECT_EQ(order.learning_rate, 1.0 / 3.0);
  const auto asked = std::get<WriteAnswers>(
      learner_order_from(bytes_of(LearnerOrder(WriteAnswers{{{"two", 3, 5, 12, "root ::= \"x\""}}}))));
  EXPECT_EQ(asked.prompts[0].answer_tokens, 12);
  EXPECT_EQ(asked.prompts[0].grammar, "root ::= \"x\"");
  EXPECT_THROW(learner_order_from("words"), Error);
}

}  // namespace
}  // namespace cudal1
