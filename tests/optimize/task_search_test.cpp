// Which program a search ends with, and how that one is judged again: the real judge and runner process, kernels
// emulated on the processor.
#include "optimize/task_search.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <filesystem>

#include "archive/evaluation_record.hpp"
#include "base/files.hpp"
#include "example_programs.hpp"
#include "host_backend.hpp"
#include "small_task.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

//! Kernels take no time to speak of beside the library, so own kernels are faster.
HostBackend& backend() {
  static const int one_thread [[maybe_unused]] = ::setenv("OMP_NUM_THREADS", "1", 1);
  static HostBackend instance;
  static const bool calm [[maybe_unused]] = (instance.set_quirks({.kernels_ms = 1.0, .library_ms = 2.0}), true);
  return instance;
}

std::string adding_program(const std::string& name, const std::string& result) {
  return "//! kernel " + name +
         " replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, i32:numel(x))\n"
         "extern \"C\" __global__ void " +
         name +
         "(const float* a, const float* b, float* c, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) c[i] = " +
         result + ";\n}\n";
}

class GivenPrograms final : public Policy {
 public:
  explicit GivenPrograms(std::deque<std::string> texts) : texts_(std::move(texts)) {}
  std::optional<std::string> propose(const std::vector<ScoredProgram>&) override {
    if (texts_.empty()) return std::nullopt;
    std::string text = std::move(texts_.front());
    texts_.pop_front();
    return text;
  }

 private:
  std::deque<std::string> texts_;
};

class TaskSearchTest : public ::testing::Test {
 protected:
  Task task() const {
    return load_task_with_metas(
        testing::make_small_task(testing::examples_folder() / "vector_add", folder_.path() / "task"));
  }

  std::unique_ptr<TaskSearch> search(std::deque<std::string> texts, bool timed_later) {
    return search(std::move(texts), timed_later, archive_);
  }

  std::unique_ptr<TaskSearch> search(std::deque<std::string> texts, bool timed_later, Archive& archive) {
    TaskSearchOptions options;
    options.limits.evaluations = static_cast<int>(texts.size());
    options.progress_file = folder_.path() / "progress.json";
    options.best_is_timed_later = timed_later;
    auto made = std::make_unique<TaskSearch>(backend(), task(), &archive,
                                             std::make_unique<GivenPrograms>(std::move(texts)), options);
    while (made->step()) {
    }
    return made;
  }

  //! As if it had been right when it was judged.
  void put_on_record(const std::string& text, double reward) {
    JudgeOptions options;
    options.mode = JudgeMode::fast;
    TaskJudge judge(backend(), task(), options);
    Evaluation evaluation = judge.evaluate(judge.compile("known", text));
    evaluation.status = Status::ok;
    evaluation.failure = {};
    evaluation.reward = reward;
    archive_.record({judge.hash(), judge.name(), judge.source_text()}, text, to_record(evaluation));
  }

  TemporaryFolder folder_;
  Archive archive_{folder_.path() / "archive.sqlite"};
  const std::string right_ = adding_program("adds", "a[i] + b[i]"), wrong_ = adding_program("errs", "a[i] - b[i]");
};

TEST_F(TaskSearchTest, TheBestIsMeasuredAsFiguresAre) {
  const auto best = search({right_}, false)->confirmed_best();
  ASSERT_TRUE(best);
  EXPECT_EQ(to_string(best->evaluation.status), "ok") << best->evaluation.failure.message;
  EXPECT_EQ(best->evaluation.mode, "result");
  EXPECT_EQ(archive_.count(), 2);
}

TEST_F(TaskSearchTest, WhereSomebodyTimesItLaterTheBestIsOnlyVerifiedAgain) {
  const auto best = search({right_}, true)->confirmed_best();
  ASSERT_TRUE(best);
  EXPECT_EQ(best->text, right_);
  EXPECT_EQ(to_string(best->evaluation.status), "ok") << best->evaluation.failure.message;
  EXPECT_EQ(best->evaluation.mode, "fast");
  EXPECT_TRUE(best->evaluation.timing) << "of the search";
  EXPECT_EQ(archive_.count(), 1) << "nothing was measured";
}

TEST_F(TaskSearchTest, AProgramThatIsMeasuredDifferentlyByEachProcessIsBetterThanNone) {
  HostBackend restless;
  restless.choose_quirks([asked = 0]() mutable {  // each process is slower than the one before; it asks twice
    return HostQuirks{.kernels_ms = 0.0125 * (1 << 2 * std::min(asked++ / 2, 5)), .library_ms = 2.0};
  });
  TaskSearchOptions options;
  options.limits.evaluations = 1;
  options.best_is_timed_later = true;
  options.progress_file = folder_.path() / "progress.json";
  TaskSearch search(restless, task(), &archive_, std::make_unique<GivenPrograms>(std::deque{right_}), options);
  while (search.step()) {
  }
  EXPECT_EQ(to_string(search.run().judged().at(0).evaluation.status), "unstable");
  EXPECT_TRUE(search.has_candidates());
  const auto best = search.confirmed_best();
  ASSERT_TRUE(best);
  EXPECT_EQ(to_string(best->evaluation.status), "ok") << best->evaluation.failure.message;
  EXPECT_NEAR(best->evaluation.reward.value_or(0.0), 2.5, 0.2) << "the lowest that was measured";
}

TEST_F(TaskSearchTest, TheNextBestTakesThePlaceOfOneThatIsWrongOnInputsOfItsOwn) {
  put_on_record(wrong_, 50.0);
  for (const bool timed_later : {false, true}) {
    const auto best = search({right_}, timed_later)->confirmed_best();
    ASSERT_TRUE(best);
    EXPECT_EQ(best->text, right_);
    EXPECT_EQ(to_string(best->evaluation.status), "ok") << best->evaluation.failure.message;
    fs::remove(folder_.path() / "progress.json");
  }
}

TEST_F(TaskSearchTest, WhoWasFoundWrongIsNotTriedInEveryLaterRun) {
  for (const char* name : {"errs", "fails", "strays"}) put_on_record(adding_program(name, "a[i] - b[i]"), 50.0);
  EXPECT_EQ(to_string(search({}, false)->confirmed_best()->evaluation.status), "wrong_result");
  const auto best = search({right_}, false)->confirmed_best();
  ASSERT_TRUE(best);
  EXPECT_EQ(best->text, right_);
}

TEST_F(TaskSearchTest, WhatWasSpentCountsOnlyWhereItsFindingsAreOnRecord) {
  EXPECT_EQ(search({right_}, true)->run().judged().size(), 1);
  EXPECT_EQ(search({right_}, true)->run().judged().size(), 0) << "it was judged in the run before";
  Archive another(folder_.path() / "another.sqlite");
  const auto again = search({right_}, true, another);
  EXPECT_EQ(again->run().judged().size(), 1);
  EXPECT_TRUE(again->confirmed_best());
}

TEST_F(TaskSearchTest, WithoutAnyThatIsRightTheVerdictOfTheLastIsKept) {
  put_on_record(wrong_, 50.0);
  const auto best = search({}, false)->confirmed_best();
  ASSERT_TRUE(best);
  EXPECT_EQ(to_string(best->evaluation.status), "wrong_result");
}

}  // namespace
}  // namespace cudal1
