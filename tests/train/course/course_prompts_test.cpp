// What a prompt has no room for was not shown.
#include "train/course/course_prompts.hpp"

#include <gtest/gtest.h>

#include "sample_graphs.hpp"
#include "toy_learner.hpp"

namespace cudal1 {
namespace {

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
