// What answers in a run are held to.
#include "train/course/course_prompts.hpp"

#include <gtest/gtest.h>

#include "program_sampler.hpp"
#include "sample_graphs.hpp"

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

}  // namespace
}  // namespace cudal1
