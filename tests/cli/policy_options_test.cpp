// What is said of policies on one command line is said again to the processes that search.
#include "cli/policy_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/result.hpp"

namespace cudal1 {
namespace {

//! As a command has them, beside options of its own.
std::vector<std::string> forwarded(std::vector<std::string> arguments) {
  CLI::App app;
  PolicyOptions options;
  int seed = 0;
  app.add_option("--seed", seed);
  add_policy_options(app, options);
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
  return policy_arguments(app);
}

PolicyOptions heard(const std::vector<std::string>& arguments) {
  PolicyOptions options;
  read_policy_arguments(arguments, options);
  return options;
}

std::string refusal(const PolicyOptions& options) {
  try {
    policy_shares(options);
  } catch (const UsageError& problem) {
    return problem.what();
  }
  return {};
}

TEST(PolicyOptions, NothingSaidIsNothingForwarded) {
  EXPECT_TRUE(forwarded({"--seed", "3"}).empty());
  EXPECT_EQ(heard({}).mix, "search");
}

TEST(PolicyOptions, WhatIsSaidArrives) {
  const PolicyOptions options = heard(forwarded({"--policy",
                                                 "local:6,remote:2",
                                                 "--seed",
                                                 "3",
                                                 "--grammar",
                                                 "--model-device",
                                                 "cuda",
                                                 "--model-dtype=bf16",
                                                 "--samples",
                                                 "7",
                                                 "--repair=0",
                                                 "--exemplars",
                                                 "island",
                                                 "--top-k",
                                                 "40",
                                                 "--min-p=0.05",
                                                 "--adapter",
                                                 "none",
                                                 "--temperature",
                                                 "0.5",
                                                 "--remote-model",
                                                 "a model",
                                                 "--server",
                                                 "http://localhost:1/v1",
                                                 "--max-cost",
                                                 "2.5",
                                                 "--no-stream",
                                                 "--no-reasoning"}));
  EXPECT_EQ(options.mix, "local:6,remote:2");
  EXPECT_EQ(options.grammar, true);
  EXPECT_EQ(options.top_k, 40);
  EXPECT_EQ(options.min_p, 0.05);
  EXPECT_EQ(options.adapter, "none");
  EXPECT_FALSE(options.has_adapter());
  EXPECT_EQ(options.model_device, "cuda");
  EXPECT_EQ(options.model_dtype, "bf16");
  EXPECT_EQ(options.samples_a_prompt, 7);
  EXPECT_EQ(options.repair_turns, 0);
  EXPECT_EQ(options.exemplars, "island");
  EXPECT_EQ(options.remote.parameters.temperature, 0.5);
  EXPECT_EQ(options.remote.client.model.name, "a model");
  EXPECT_EQ(options.remote.server, "http://localhost:1/v1");
  EXPECT_EQ(options.remote.client.max_cost, 2.5);
  EXPECT_TRUE(options.remote.no_stream);
  EXPECT_EQ(options.remote.reasoning, false);
}

TEST(PolicyOptions, ARemoteModelMustBeNamed) {
  EXPECT_NE(refusal(heard({"--policy=remote"})).find("--remote-model"), std::string::npos);
  EXPECT_EQ(refusal(heard({"--policy=remote", "--remote-model=m"})), "");
  EXPECT_NE(refusal(heard({"--policy=nobody"})).find("there is no policy 'nobody'"), std::string::npos);
}

TEST(PolicyOptions, OnlyWhoAsksAServerGetsItsKey) {
  EXPECT_TRUE(policy_environment(heard({"--policy=local,search"})).empty());
  const auto names = policy_environment(heard({"--policy=remote", "--remote-model=m", "--key-variable=MY_KEY"}));
  EXPECT_EQ(std::count(names.begin(), names.end(), "MY_KEY"), 1);
}

TEST(PolicyOptions, AnAnswerHasWhatWasAskedForOrWhatItsFormNeedsAndAPromptHasRoomBesideIt) {
  EXPECT_EQ(answer_tokens(heard({}), PromptForm::full, 32768), 4096U);
  EXPECT_EQ(answer_tokens(heard({}), PromptForm::full, 4096), 2048U);
  EXPECT_EQ(answer_tokens(heard({}), PromptForm::compact, 32768), 160U);
  EXPECT_EQ(answer_tokens(heard({"--max-tokens=20000"}), PromptForm::full, 32768), 20000U)
      << "hidden reasoning is long";
  EXPECT_EQ(answer_tokens(heard({"--max-tokens=512"}), PromptForm::compact, 8192), 512U);
}

TEST(PolicyOptions, TokensAreDrawnAsWasAskedOrAsTheModelWasTrained) {
  const TrainedPrompt trained{.temperature = 0.75};
  EXPECT_EQ(sampling_parameters(heard({}), nullptr).temperature, 1.0f);
  EXPECT_EQ(sampling_parameters(heard({}), &trained).temperature, 0.75f);
  EXPECT_EQ(sampling_parameters(heard({"--temperature=0.5"}), &trained).temperature, 0.5f);
  const SamplingParameters narrow = sampling_parameters(heard({"--top-k=40", "--min-p=0.25", "--top-p=0.5"}), nullptr);
  EXPECT_EQ(narrow.top_k, 40);
  EXPECT_EQ(narrow.min_p, 0.25f);
  EXPECT_EQ(narrow.top_p, 0.5f);
  EXPECT_EQ(sampling_parameters(heard({}), nullptr).top_k, 0);
}

TEST(PolicyOptions, AModelIsAskedAsItWasTrainedUnlessToldOtherwise) {
  TrainedPrompt trained;
  trained.context_tokens = 1000;
  trained.answer_tokens = 77;
  trained.exemplars = {.choice = ExemplarChoice::island, .count = 3, .bucket_width = 0.25, .temperature = 0.2};
  const LanguageModelOptions as_trained = writing_options(heard({}), "local", &trained, 8192);
  EXPECT_EQ(as_trained.form, PromptForm::compact);
  EXPECT_EQ(as_trained.context_tokens, 1000u);
  EXPECT_EQ(as_trained.answer_tokens, 77u);
  EXPECT_EQ(as_trained.exemplars, trained.exemplars);
  EXPECT_EQ(as_trained.order, ExemplarOrder::as_given);
  EXPECT_EQ(as_trained.repair_turns, 0) << "it has never seen an error";
  const LanguageModelOptions as_said = writing_options(
      heard({"--form=full", "--exemplars=random", "--context=4096", "--max-tokens=512", "--repair=2"}), "local",
      &trained, 4096);
  EXPECT_EQ(as_said.form, PromptForm::full);
  EXPECT_EQ(as_said.exemplars.choice, ExemplarChoice::random);
  EXPECT_EQ(as_said.exemplars.count, 3u);
  EXPECT_EQ(as_said.context_tokens, std::nullopt);
  EXPECT_EQ(as_said.answer_tokens, 512u);
  EXPECT_EQ(as_said.repair_turns, 2);
}

TEST(PolicyOptions, AModelOfWhichNothingIsKnownIsAskedAsUsual) {
  const LanguageModelOptions local = writing_options(heard({}), "local", nullptr, 8192);
  EXPECT_EQ(local.form, PromptForm::compact);
  EXPECT_EQ(local.answer_tokens, 160u);
  EXPECT_EQ(local.order, ExemplarOrder::slowest_first);
  EXPECT_EQ(local.repair_turns, 1);
  EXPECT_EQ(writing_options(heard({}), "remote", nullptr, 32768).form, PromptForm::full);
}

TEST(PolicyOptions, GrammarCanBeAskedForAndDeclined) {
  EXPECT_EQ(heard({}).grammar, std::nullopt);
  EXPECT_EQ(heard(forwarded({"--grammar"})).grammar, true);
  EXPECT_EQ(heard(forwarded({"--no-grammar"})).grammar, false);
}

TEST(PolicyOptions, WhatCannotBeMeantIsAUsageError) {
  EXPECT_THROW(heard({"--top-k=-1"}), UsageError);
  EXPECT_THROW(heard({"--min-p=1.5"}), UsageError);
  EXPECT_THROW(heard({"--min-p=nan"}), UsageError);
  EXPECT_THROW(heard({"--adapter=/there/is/no/such/folder"}), UsageError);
  EXPECT_THROW(heard({"--samples=0"}), UsageError);
  EXPECT_THROW(heard({"--context=0"}), UsageError);
}

}  // namespace
}  // namespace cudal1
