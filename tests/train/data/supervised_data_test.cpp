// The pairs of stage 1: shares, independence of the scores, limits.
#include "train/data/supervised_data.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "policy/prompt/answer.hpp"
#include "sample_graphs.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

const vgpu::GpuProfile& h200() {
  static const vgpu::GpuProfile gpu = vgpu::find_profile("h200");
  return gpu;
}

TrainingTask sample_task(const std::string& name, OpGraph graph) {
  TrainingTask made;
  made.family = "sample";
  made.task.name = name;
  made.task.graph = std::move(graph);
  return made;
}

const std::vector<TrainingTask>& tasks() {
  static const std::vector<TrainingTask> all = {sample_task("sample_00000000aaaa", sample::chain()),
                                                sample_task("sample_00000001bbbb", sample::diamond())};
  return all;
}

//! The later a variant was made, the faster it is.
std::vector<TaskVariants> scored_variants(std::size_t count) {
  std::vector<TaskVariants> all;
  for (const TrainingTask& task : tasks()) {
    Random random(1);
    TaskVariants& made = all.emplace_back(TaskVariants{&task, {}});
    for (ProgramVariant& variant : program_variants(task.task.graph, h200(), {.count = count}, random))
      made.variants.push_back({std::move(variant), 1.0 + 0.1 * static_cast<double>(made.variants.size())});
  }
  return all;
}

SupervisedDataOptions sample_options(std::size_t pairs) {
  SupervisedDataOptions options;
  options.pairs = pairs;
  options.prompt.gpu = h200();
  options.prompt.answer_tokens = 400;
  options.prompt.written_out_tokens = 4000;
  options.prompt.context_tokens = 8192;
  return options;
}

SupervisedData sample_data(const SupervisedDataOptions& options, std::uint64_t seed = 9) {
  static const std::vector<TaskVariants> variants = scored_variants(8);
  Random random(seed);
  return supervised_data(variants, options, random);
}

TEST(SupervisedData, AThirdEachHasNoneOneAndTwoExemplarsAndAQuarterIsWrittenOut) {
  const SupervisedData data = sample_data(sample_options(600));
  ASSERT_EQ(data.examples.size(), 600u);
  std::map<std::size_t, int> exemplars;
  int written_out = 0;
  for (const TrainingExample& example : data.examples) {
    ++exemplars[example.exemplars];
    written_out += example.form == ProgramForm::written_out ? 1 : 0;
  }
  EXPECT_EQ(exemplars, (std::map<std::size_t, int>{{0, 200}, {1, 200}, {2, 200}}));
  EXPECT_EQ(written_out, 150);
}

//! Scores of a prompt, in its order.
std::vector<double> shown_scores(const std::string& prompt) {
  std::vector<double> scores;
  constexpr std::string_view mark = "Program, score ";
  for (std::size_t at = prompt.find(mark); at != prompt.npos; at = prompt.find(mark, at + 1))
    scores.push_back(std::stod(prompt.substr(at + mark.size(), 8)));
  return scores;
}

//! Of eight equally likely variants the target lies above two others, between them and below them a third of the time
//! each. 4000 pairs of two exemplars: a share has a deviation of 0.0075.
TEST(SupervisedData, TheTargetHasNothingToDoWithTheScoresNorHasTheOrder) {
  const SupervisedData data = sample_data([] {
    SupervisedDataOptions options = sample_options(12000);
    options.written_out_share = 0.0;
    return options;
  }());
  double above = 0, below = 0, rising = 0, all = 0;
  for (const TrainingExample& example : data.examples) {
    const std::vector<double> scores = shown_scores(example.prompt);
    ASSERT_EQ(scores.size(), example.exemplars);
    if (scores.size() != 2) continue;
    ++all;
    above += example.speedup > std::max(scores[0], scores[1]) + 1e-6 ? 1 : 0;
    below += example.speedup < std::min(scores[0], scores[1]) - 1e-6 ? 1 : 0;
    rising += scores[0] < scores[1] ? 1 : 0;
  }
  EXPECT_NEAR(above / all, 1.0 / 3.0, 0.03);
  EXPECT_NEAR(below / all, 1.0 / 3.0, 0.03);
  EXPECT_NEAR(rising / all, 0.5, 0.03);
}

TEST(SupervisedData, EveryTargetComesAsOftenAsAnyOther) {
  SupervisedDataOptions options = sample_options(480);
  options.written_out_share = 0.0;
  std::map<std::string, int> times;
  for (const TrainingExample& example : sample_data(options).examples) ++times[example.task + example.plan_hash];
  EXPECT_EQ(times.size(), 16u);
  for (const auto& [target, count] : times) EXPECT_NEAR(count, 30, 1) << target;
}

TEST(SupervisedData, NeverShowsTheTargetItself) {
  for (const TrainingExample& example : sample_data(sample_options(300)).examples)
    for (const double score : shown_scores(example.prompt)) EXPECT_GT(std::abs(score - example.speedup), 0.05);
}

TEST(SupervisedData, AnswersAreReadAsTheProgramsTheyTeach) {
  for (const TrainingExample& example : sample_data(sample_options(120)).examples) {
    const Answer answer = read_answer(example.completion, FinishReason::stop);
    ASSERT_EQ(answer.outcome, AnswerOutcome::program) << example.completion;
    EXPECT_FALSE(answer.analysis.empty());
    const OpGraph& graph = tasks()[example.task == tasks()[0].task.name ? 0 : 1].task.graph;
    const auto plan = plan_program(graph, answer.program);
    ASSERT_TRUE(plan) << plan.failure().message << example.completion;
    EXPECT_EQ(plan.value().hash, example.plan_hash);
    const bool asks_for_cuda = example.prompt.find("CUDA kernels") != std::string::npos;
    EXPECT_EQ(asks_for_cuda, example.form == ProgramForm::written_out);
    EXPECT_NEAR(example.reward, std::log(example.speedup), 1e-12);
    EXPECT_EQ(example.group, group_of_prompt(example.prompt));
  }
}

TEST(SupervisedData, WhatIsTooLongIsLeftOutAndCounted) {
  SupervisedDataOptions options = sample_options(90);
  options.prompt.written_out_tokens = 10;
  const SupervisedData data = sample_data(options);
  EXPECT_GT(data.counts.too_long_answer, 0u);
  EXPECT_EQ(data.examples.size() + data.counts.unfilled, 90u);
  for (const TrainingExample& example : data.examples) EXPECT_EQ(example.form, ProgramForm::directives);
  options.prompt.context_tokens = 420;
  EXPECT_GT(sample_data(options).counts.too_long_prompt, 0u);
}

TEST(SupervisedData, TheSameRandomGivesTheSamePairs) {
  EXPECT_EQ(sample_data(sample_options(60), 1).examples, sample_data(sample_options(60), 1).examples);
  EXPECT_NE(sample_data(sample_options(60), 1).examples, sample_data(sample_options(60), 2).examples);
}

TEST(SupervisedData, TasksWithTooFewVariantsTeachWithFewerExemplars) {
  std::vector<TaskVariants> few = scored_variants(8);
  for (TaskVariants& task : few) task.variants.resize(1);
  Random random(1);
  const SupervisedData data = supervised_data(few, sample_options(30), random);
  EXPECT_EQ(data.examples.size(), 10u);
  EXPECT_EQ(data.counts.unfilled, 20u);
  EXPECT_GT(data.counts.too_few_variants, 0u);
}

}  // namespace
}  // namespace cudal1
