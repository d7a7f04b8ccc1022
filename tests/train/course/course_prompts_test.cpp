// What answers in a run are held to, and what a prompt shows.
#include "train/course/course_prompts.hpp"

#include <gtest/gtest.h>

#include "program_sampler.hpp"
#include "sample_graphs.hpp"
#include "toy_learner.hpp"

namespace cudal1 {
namespace {

TrainingTask task_of(const std::string& name, OpGraph graph) {
  TrainingTask made;
  made.task.name = name;
  made.task.hash = "hash of " + name;
  made.task.graph = std::move(graph);
  return made;
}

TEST(TaskGrammars, AreThoseOfAnswersToEachTask) {
  const TaskGrammar grammar = task_grammars({});
  GrammarSampler chain(grammar(task_of("chain", sample::chain()))), views(grammar(task_of("views", sample::views())));
  const std::string answer = "Analysis: no program yet; try fuse gelu_1.\n//! fuse gelu_1\n";
  EXPECT_TRUE(chain.accepts(answer));
  EXPECT_FALSE(views.accepts(answer)) << "it has no gelu_1";
  EXPECT_TRUE(views.accepts("Analysis: graph.\n//! graph\n"));
  EXPECT_FALSE(chain.accepts("Analysis: nothing.\n")) << "an empty program is no success";
}

TEST(TaskGrammars, AreMadeOnceForEachTask) {
  const TaskGrammar grammar = task_grammars({});
  const std::string first = grammar(task_of("chain", sample::chain()));
  EXPECT_EQ(grammar(task_of("chain", {})), first) << "by its hash";
  EXPECT_NE(grammar(task_of("views", sample::views())), first);
}

TEST(TaskGrammars, AreNoneWhereTheRunHasNone) {
  RunSettings run;
  run.grammar = false;
  EXPECT_EQ(task_grammars(run)(task_of("chain", sample::chain())), "");
}

ShownPrograms two_programs() {
  return {{{"//! graph\n", 1.0}, {"//! graph : branches=2\n", 2.0}}, {"one", "two"}, 3};
}

TEST(CoursePrompts, TakeOutWhatThereIsNoRoomFor) {
  const testing::ToyLearner model(1);  // counts characters
  TrainingTask task;
  task.task.name = "chain";
  task.task.graph = sample::chain();
  RunSettings run;
  run.context_tokens = 100000;
  const auto prompt = [&](ShownPrograms& shown) {
    return prompts_for_directives(prompt_options(run, vgpu::find_profile("h200"), model))(task, shown);
  };
  ShownPrograms both = two_programs();
  const std::string text = prompt(both);
  EXPECT_EQ(both.plan_hashes, (std::vector<std::string>{"one", "two"}));
  run.context_tokens = static_cast<std::int64_t>(text.size()) + run.answer_tokens - 1;
  ShownPrograms one = two_programs();
  EXPECT_EQ(prompt(one).find("branches=2"), std::string::npos);
  EXPECT_EQ(one.plan_hashes, std::vector<std::string>{"one"});
  ASSERT_EQ(one.exemplars.size(), 1u);
  EXPECT_EQ(one.exemplars[0].program, "//! graph\n");
  EXPECT_EQ(one.island, 3u) << "what is written still belongs there";
}

}  // namespace
}  // namespace cudal1
