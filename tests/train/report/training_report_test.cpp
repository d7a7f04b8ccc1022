// A page of a hand-made run: everything that is said stands in its files.
#include "train/report/training_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "error_of.hpp"
#include "train/run/checkpoint.hpp"
#include "train/run/run_folder.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

class TrainingReportTest : public testing::Test {
 protected:
  TrainingReportTest() {
    config_.run.seed = 42;
    config_.judge.device = "vgpu";
    config_.model.path = "some/model.gguf";
    const RunFolder made(run_, config_, std::string(64, 'a'));
  }
  void write_metrics() const {
    std::string text = "stage,step,loss,reward,success_rate,best_speedup,mean_log_speedup,entropy,kl,judging_s\n";
    for (int i = 0; i < 20; ++i) text += fmt::format("supervised,{},{},,,,,,,\n", i, 3.0 / (i + 1));
    for (int i = 0; i < 20; ++i)
      text += fmt::format("contrastive,{},0.1,{},0.5,{},{},0.3,0.01,2\n", i, 0.1 * i, 1.0 + 0.1 * i, 0.01 * i);
    write_file_atomically(run_ / "metrics.csv", text);
  }
  void write_samples() const {
    std::string text;
    const auto add = [&](const std::string& task, int step, const std::string& program, double speedup) {
      TrainingExample sample;
      sample.task = task;
      sample.group = fmt::format("{}-0-0", step);
      sample.completion = program;
      sample.speedup = speedup;
      sample.plan_hash = program;
      text += to_json_line(sample) + "\n";
    };
    for (int task = 0; task < 5; ++task) {
      add(fmt::format("rows_{}", task), 0, "//! graph\n", 1.0);
      add(fmt::format("rows_{}", task), 9, "//! fuse gelu_1 softmax_1\n//! graph\n", 1.0 + 0.25 * task);
    }
    write_file_atomically(run_ / "samples.jsonl", text + "{\"task\": \"cut sh");
  }
  void write_checkpoint() const {
    CheckpointWriter writer(run_ / "checkpoints", {"contrastive", 20});
    writer.add_bytes("adapter/weights", "w");
    writer.finish({{"finished", false},
                   {"watch",
                    {{"reward", 4.0}, {"rechecked_reward", 1.0}, {"jumps", 2}, {"caught", {{"forbidden", 3}}}}}});
  }
  TrainingReport report() const { return training_report({run_}, "cudal1 report first", "page"); }
  static void expect_has(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(text.find(part), text.npos) << part << "\n" << text;
  }

  TemporaryFolder folder_;
  fs::path run_ = folder_.path() / "first";
  TrainingConfig config_;
};

TEST_F(TrainingReportTest, ARunThatHasJustBegunHasAPage) {
  const TrainingReport made = report();
  expect_has(made.markdown, {"## Run: first", "model.gguf (SHA-256 aaaaaaaaaaaa…)", "| seed | 42 |", "not begun",
                             "Command and times were not written down.", "There are no numbers yet.",
                             "Stage 3 has no success yet.", "Nothing was watched yet."});
  EXPECT_TRUE(made.pictures.empty());
}

TEST_F(TrainingReportTest, SaysWhatRanWhereAndWhen) {
  const RunHistory history(run_ / "history.jsonl");
  history.begin({.begun_s = 86400.0,
                 .command = "cudal1 train a.toml -o first",
                 .judge = "NVIDIA H200",
                 .model_device = "NVIDIA H200",
                 .host = "a processor, 16 threads"});
  history.begin({.begun_s = 90000.0, .command = "cudal1 train a.toml -o first", .judge = "NVIDIA H200"});
  history.end(97200.0, true);
  const std::string text = report().markdown;
  expect_has(text, {"| judged on | NVIDIA H200, measured |", "```\ncudal1 train a.toml -o first\n```",
                    "begun 1970-01-02 00:00 UTC; killed, or still going",
                    "begun 1970-01-02 01:00 UTC; through 1970-01-02 03:00 UTC, after 2.0 h"});
  EXPECT_EQ(text.find("predicted"), text.npos);
}

TEST_F(TrainingReportTest, HasAPictureForEachStageThatHasBegun) {
  write_metrics();
  const TrainingReport made = report();
  ASSERT_EQ(made.pictures.size(), 2u);
  expect_has(made.markdown, {"(page/1-supervised.svg)", "(page/1-contrastive.svg)", "| `contrastive` | 20 | unfinished |",
                             "| 40 s |"});
  expect_has(made.pictures.at("1-contrastive.svg"), {">reward</text>", ">entropy</text>", "KL to the policy of stage 2",
                                                     "predicted speed-up of successes", "nats a token"});
  EXPECT_EQ(made.markdown.find("1-self_supervised.svg"), std::string::npos);
}

TEST_F(TrainingReportTest, ShowsTheThreeLargestGainsAndSaysWhatIsUsual) {
  write_samples();
  const std::string text = report().markdown;
  expect_has(text, {"#### `rows_4`: 1.00x -> 2.00x predicted", "#### `rows_3`", "#### `rows_2`",
                    "over all 5 tasks with a success the median is 1.50x as fast", "Changed: fuse gelu_1 softmax_1.",
                    "Best, step 10, predicted speed-up 2.00x:\n````cuda\n//! fuse gelu_1 softmax_1\n//! graph\n````"});
  EXPECT_EQ(text.find("#### `rows_1`"), text.npos);
  EXPECT_EQ(text.find("the writer had made"), text.npos);
}

TEST_F(TrainingReportTest, TellsWhatTheWriterHadMadeBefore) {
  write_samples();
  const nlohmann::json program{{"plan_hash", "//! fuse gelu_1 softmax_1\n//! graph\n"}};
  const nlohmann::json task{{"hash", "h"}, {"tried", 1}, {"right", {program}}};
  write_file_atomically(run_ / "variants.jsonl", task.dump() + "\n");
  expect_has(report().markdown, {"2.00x; the writer had made the same plan, and prompts may have shown it:"});
}

TEST_F(TrainingReportTest, CountsWhatWasNotEarned) {
  write_checkpoint();
  write_file_atomically(
      run_ / "suspicions.jsonl",
      "{\"kind\": \"jump\", \"step\": 3, \"task\": \"rows_1\", \"speedup\": 9.5, \"best_before\": 1.5, "
      "\"measured_again\": true}\n"
      "{\"kind\": \"forbidden\", \"step\": 4, \"task\": \"rows_2\", \"message\": \"a | device global\"}\n{\"ki");
  expect_has(report().markdown,
             {"Up to step 20 of stage 3: 25% of the reward was measured twice, 2 jumps of speed, caught: 3 forbidden.",
              "lists 2 of them",
              "| 4 | jump | `rows_1` | predicted speed-up 9.50x, the best before 1.50x; measured again in another "
              "process |",
              "| 5 | forbidden | `rows_2` | a \\| device global |"});
}

TEST_F(TrainingReportTest, AFolderWithoutARunIsNamed) {
  EXPECT_EQ(error_of([&] { training_report({folder_.path() / "nothing"}, "", "page"); }),
            (folder_.path() / "nothing").string() + ": is no training run: it has no run.json");
}

TEST_F(TrainingReportTest, AnAblationBesideARunIsASectionOfItsOwn) {
  fs::create_directories(folder_.path() / "arms" / "trials");
  const TrainingReport made = training_report({run_ / "", folder_.path() / "arms"}, "", "page");
  expect_has(made.markdown, {"## Run: first", "## Ablation: arms", "No seed is through yet."});
}

}  // namespace
}  // namespace cudal1
