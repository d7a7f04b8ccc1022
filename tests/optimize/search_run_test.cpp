// A search with a policy and a judge made up for the purpose: limits, what is kept, and what is not judged twice.
#include "optimize/search_run.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "optimize/replaced_time.hpp"
#include "optimize/search_progress.hpp"

namespace cudal1 {
namespace {

//! Proposes "1", "2" … up to a last one, and remembers what it was shown.
class CountingPolicy : public Policy {
 public:
  explicit CountingPolicy(int last) : last_(last) {}
  std::optional<std::string> propose(const std::vector<ScoredProgram>& seen) override {
    shown = seen;
    return next_ <= last_ ? std::optional(std::to_string(next_++)) : std::nullopt;
  }
  std::vector<ScoredProgram> shown;

 private:
  int next_ = 1, last_;
};

//! Judges the program N with these rewards, in their order; 0 is a wrong result.
struct Judge {
  std::vector<double> rewards;
  std::vector<std::string> started;
  std::size_t judged = 0;
  bool stop = false;
  std::size_t stop_after = 1000;

  Evaluation next() {
    Evaluation evaluation;
    const double reward = rewards.at(judged++);
    evaluation.status = reward > 0.0 ? Status::ok : Status::wrong_result;
    if (reward > 0.0) evaluation.reward = reward;
    if (judged >= stop_after) stop = true;
    return evaluation;
  }
  SearchParts parts(Policy& policy) {
    SearchParts made;
    made.policy = &policy;
    made.start = [this](const std::string& text) { started.push_back(text); };
    made.finish = [this](double) { return next(); };
    made.stop = [this] { return stop; };
    return made;
  }
};

TEST(SearchRun, EndsAtTheBudgetAndKeepsTheBest) {
  CountingPolicy policy(100);
  Judge judge{{1.0, 0.0, 3.0, 2.0}};
  SearchRun run(judge.parts(policy), {4}, {}, {});
  while (!run.is_over()) run.step();
  EXPECT_EQ(run.judged().size(), 4u);
  EXPECT_EQ(judge.started.size(), 4u) << "nothing is compiled that nobody will judge";
  ASSERT_NE(run.best(), nullptr);
  EXPECT_EQ(run.best()->text, "3");
  EXPECT_EQ(run.best_reward(), 3.0);
}

TEST(SearchRun, ShowsThePolicyWhatBecameOfItsPrograms) {
  CountingPolicy policy(100);
  Judge judge{std::vector<double>(8, 1.5)};
  SearchRun run(judge.parts(policy), {8}, {{"known", 1.25, 0.5}}, {});
  while (!run.is_over()) run.step();
  ASSERT_GE(policy.shown.size(), 2u);
  EXPECT_EQ(policy.shown[0].text, "known");
  EXPECT_EQ(policy.shown[1].text, "1");
  EXPECT_EQ(policy.shown[1].reward, 1.5);
}

TEST(SearchRun, EndsWhenThePolicyHasNothingMore) {
  CountingPolicy policy(2);
  Judge judge{{1.0, 1.0}};
  SearchRun run(judge.parts(policy), {20}, {}, {});
  for (int i = 0; i < 10 && !run.is_over(); ++i) run.step();
  EXPECT_TRUE(run.is_over());
  EXPECT_TRUE(run.is_exhausted());
  EXPECT_EQ(run.judged().size(), 2u);
}

TEST(SearchRun, DoesNotBelieveWhatWasJudgedWhileSomebodyAskedToStop) {
  CountingPolicy policy(100);
  Judge judge{{1.0, 9.0}};
  judge.stop_after = 2;
  SearchRun run(judge.parts(policy), {20}, {}, {});
  while (!run.is_over()) run.step();
  EXPECT_EQ(run.judged().size(), 1u);
  EXPECT_EQ(run.best_reward(), 1.0);
}

TEST(SearchRun, CountsWhatAnEarlierRunSpent) {
  CountingPolicy policy(100);
  Judge judge{{1.0, 1.0}};
  SearchRun run(judge.parts(policy), {5}, {}, {3, 1.0});
  while (!run.is_over()) run.step();
  EXPECT_EQ(run.judged().size(), 2u);
  EXPECT_EQ(run.spent().evaluations, 5);
  SearchRun none(judge.parts(policy), {5, 1.0}, {}, {3, 2.0});
  EXPECT_TRUE(none.is_over()) << "its seconds are spent";
}

TEST(SearchProgress, IsReadBackForTheSameSearchOnly) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "progress.json";
  const SearchIdentity identity{"hash", "NVIDIA H200", "search"};
  EXPECT_EQ(read_progress(file, identity).evaluations, 0);
  write_progress(file, identity, {7, 12.5});
  EXPECT_EQ(read_progress(file, identity).evaluations, 7);
  EXPECT_EQ(read_progress(file, identity).seconds, 12.5);
  const SearchIdentity elsewhere{"hash", "NVIDIA A100", "search"};
  EXPECT_EQ(read_progress(file, elsewhere).evaluations, 0);
  write_progress(file, elsewhere, {2, 1.0});
  write_progress(file, identity, {8, 13.0});
  EXPECT_EQ(read_progress(file, elsewhere).evaluations, 2);
  EXPECT_EQ(read_progress(file, identity).evaluations, 8);
  write_file_atomically(file, "{\"search\": ");
  EXPECT_EQ(read_progress(file, identity).evaluations, 0) << "a broken file is no progress";
}

TEST(ReplacedShare, IsTheTimeOfNodesThatTheLibraryNoLongerRuns) {
  vgpu::ProfileReport reference;
  for (const auto& [name, milliseconds] : {std::pair{"linear_1", 3.0}, {"relu_1", 1.0}}) {
    vgpu::KernelReport row;
    row.name = name;
    row.is_op = true;
    row.milliseconds = milliseconds;
    reference.rows.push_back(row);
  }
  Plan plan;
  Node linear;
  linear.name = "linear_1";
  plan.call = {OpStep{linear}, LaunchStep{"fuse_relu_1"}};
  EXPECT_DOUBLE_EQ(replaced_share(plan, reference), 0.25);
  plan.call = {LaunchStep{"all"}};
  EXPECT_DOUBLE_EQ(replaced_share(plan, reference), 1.0);
}

}  // namespace
}  // namespace cudal1
