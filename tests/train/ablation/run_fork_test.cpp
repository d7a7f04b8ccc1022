// Arms of one seed begin with the same first stages.
#include "train/ablation/run_fork.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "error_of.hpp"

namespace cudal1 {
namespace {

void write_checkpoint(const RunFolder& run, const CheckpointName& name, const std::string& weights, bool is_finished) {
  CheckpointWriter writer(run.checkpoints(), name);
  writer.add_bytes("adapter/weights", weights);
  writer.finish({{"finished", is_finished}});
}

class RunForkTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  RunFolder from_{folder_.path() / "from", {}, "model"}, to_{folder_.path() / "to", {}, "model"};
};

TEST_F(RunForkTest, ARunBeginsWhereAnotherEndedAStage) {
  write_checkpoint(from_, {"supervised", 4}, "first", true);
  write_checkpoint(from_, {"self_supervised", 2}, "halfway", false);
  EXPECT_NE(error_of([&] { fork_run(from_, "self_supervised", to_); }).find("self_supervised is not through"),
            std::string::npos);
  write_checkpoint(from_, {"self_supervised", 3}, "second", true);
  write_checkpoint(from_, {"contrastive", 1}, "third", true);
  for (const char* name : {"variants.jsonl", "examples.jsonl", "metrics.csv", "history.jsonl"})
    write_file_atomically(from_.path() / name, std::string("of ") + name);
  fork_run(from_, "self_supervised", to_);
  const auto begun = newest_checkpoint(to_.checkpoints());
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->name(), (CheckpointName{"self_supervised", 3}));
  EXPECT_EQ(begun->read("adapter/weights"), "second");
  EXPECT_EQ(begun->notes().at("finished"), true);
  EXPECT_EQ(read_file(to_.metrics()), "of metrics.csv");
  EXPECT_EQ(read_file(to_.history()), "of history.jsonl");
  EXPECT_EQ(read_file(to_.examples()), "of examples.jsonl");
  EXPECT_EQ(read_file(to_.path() / "variants.jsonl"), "of variants.jsonl");
}

TEST_F(RunForkTest, ARunThatHasCheckpointsIsLeftAsItIs) {
  write_checkpoint(from_, {"self_supervised", 3}, "second", true);
  write_checkpoint(to_, {"contrastive", 5}, "own", false);
  write_file_atomically(to_.metrics(), "own");
  write_file_atomically(from_.metrics(), "other");
  fork_run(from_, "self_supervised", to_);
  EXPECT_EQ(newest_checkpoint(to_.checkpoints())->read("adapter/weights"), "own");
  EXPECT_EQ(read_file(to_.metrics()), "own");
}

}  // namespace
}  // namespace cudal1
