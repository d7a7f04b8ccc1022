// What others get of a run: nothing of one that has not come to its end, and nothing that its folder does not say.
#include "train/publish/publish.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/files.hpp"
#include "error_of.hpp"
#include "gguf_builder.hpp"
#include "model/files/lora_adapter.hpp"
#include "train/course/course_prompts.hpp"
#include "train/course/run_record.hpp"
#include "train/publish/finished_run.hpp"
#include "train/run/checkpoint.hpp"
#include "train/run/run_folder.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

LoraModule module_of(std::int64_t out, std::int64_t in, std::int64_t rank) {
  return {out, in, std::vector<float>(static_cast<std::size_t>(in * rank), 0.5f),
          std::vector<float>(static_cast<std::size_t>(out * rank), 0.25f)};
}

LoraAdapter adapter_of_rank(std::int64_t rank) {
  LoraAdapter adapter;
  adapter.rank = rank;
  adapter.alpha = 8.0;
  adapter.base_name = "small.gguf";
  adapter.base_sha256 = std::string(64, 'a');
  for (int layer = 0; layer < 2; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    adapter.modules[prefix + "self_attn.q_proj"] = module_of(64, 64, rank);
    adapter.modules[prefix + "mlp.down_proj"] = module_of(64, 96, rank);
  }
  return adapter;
}

TrainingConfig two_stages() {
  TrainingConfig config;
  config.run.seed = 17;
  config.run.stages = {"supervised", "contrastive"};
  config.run.answer_tokens = 99;
  config.model.path = "/home/somebody/small.gguf";
  config.judge.archive = "/home/somebody/shared.sqlite";
  config.tasks.validation = 7;
  return config;
}

class Publish : public ::testing::Test {
 protected:
  void end_stage(const std::string& stage, std::int64_t step, const nlohmann::json& notes = {{"finished", true}}) {
    CheckpointWriter writer(folder_.checkpoints(), {stage, step});
    writer.add_bytes("adapter/weights", "w");
    writer.finish(notes);
  }

  void write_adapter(std::int64_t rank = 4) {
    save_lora_adapter(adapter_of_rank(rank), testing::small_config(Architecture::llama), folder_.adapter());
  }

  void finish() {
    end_stage("supervised", 12);
    end_stage("contrastive", 34);
    write_adapter();
    write_file_atomically(folder_.examples(), "{}\n{}\n{}\n");
    const TrainedOn on{"virtual NVIDIA H200 SXM, 141 GB", true, "a CPU, 2 cores"};
    record_stage(folder_.path(), {{.stage = "supervised", .steps = 12}, on});
    record_stage(folder_.path(),
                 {{.stage = "contrastive",
                   .steps = 34,
                   .validated = TrialFigures{.first_success = 0.875,
                                             .first_distinct = 3.5,
                                             .reward = 0.4321,
                                             .later_reward = 0.5,
                                             .best_log = std::log(1.75),
                                             .copy_rate = 0.1}},
                  on});
  }

  std::string refusal() const {
    return error_of([this] { publish_run(folder_.path(), to_); });
  }

  TemporaryFolder scratch_;
  RunFolder folder_{scratch_.path() / "run", two_stages(), std::string(64, 'a')};
  fs::path to_ = scratch_.path() / "models" / "mine";
};

TEST_F(Publish, HoldsWhatTheRunHasMade) {
  finish();
  const PublishedAdapter made = publish_run(folder_.path(), to_ / "");  // a slash at the end is no other folder
  EXPECT_EQ(made.folder, to_);
  EXPECT_EQ(made.bytes, 2 * 2 * 4 * (64 + 64 + 64 + 96)) << "two bytes a number, two layers, rank 4";
  EXPECT_FALSE(made.is_large());
  const LoraAdapter adapter = load_lora_adapter(to_);
  EXPECT_EQ(adapter.base_sha256, std::string(64, 'a'));
  EXPECT_EQ(adapter.modules.at("model.layers.1.self_attn.q_proj").a.front(), 0.5f);
  const char* weights = "adapter_model.safetensors";
  EXPECT_LT(fs::file_size(to_ / weights), fs::file_size(folder_.adapter() / weights));
  EXPECT_EQ(load_trained_prompt(to_), trained_prompt_of(two_stages()));
  EXPECT_EQ(load_trained_prompt(to_)->answer_tokens, 99u);
}

TEST_F(Publish, TheCardSaysWhatTheFolderSays) {
  finish();
  publish_run(folder_.path(), to_);
  const std::string card = read_file(to_ / "README.md");
  for (const char* said :
       {"# mine\n", "small.gguf", "aaaaaaaa", "LoRA of rank 4 (alpha 8) on 4 linear layers, bf16", "Seed 17",
        "| supervised | 12 | virtual NVIDIA H200 SXM, 141 GB (predicted times) | a CPU, 2 cores |",
        "| supervised | not validated", "| contrastive | 88% | 3.5 | 0.432 | 1.75x |", "On 7 tasks", "3 pairs",
        "Speed-ups are predictions", "./cudal1 train config.toml -o RUN", "license: apache-2.0", "Apache-2.0",
        "has a licence of its own"})
    EXPECT_NE(card.find(said), std::string::npos) << said << " is not in\n" << card;
}

TEST_F(Publish, NamesNoPathOfThisMachine) {
  finish();
  publish_run(folder_.path(), to_);
  for (const fs::path& file : files_below(to_)) {
    const std::string text = read_file(file);
    EXPECT_EQ(text.find("somebody"), std::string::npos) << file;
    EXPECT_EQ(text.find(scratch_.path().string()), std::string::npos) << file;
  }
  EXPECT_EQ(load_training_config(to_ / "config.toml").run.seed, 17u);
}

TEST_F(Publish, ARunThatHasNotComeToItsEndIsRefused) {
  const std::string nothing = error_of([this] { publish_run(scratch_.path(), to_); });
  EXPECT_NE(nothing.find("there is no training run"), std::string::npos) << nothing;
  EXPECT_NE(refusal().find("stage supervised is not through"), std::string::npos) << refusal();
  end_stage("supervised", 12);
  end_stage("contrastive", 20, {{"finished", false}});
  EXPECT_NE(refusal().find("stage contrastive is not through; `cudal1 train"), std::string::npos) << refusal();
  end_stage("contrastive", 34);
  EXPECT_NE(refusal().find("there is no adapter yet"), std::string::npos) << refusal();
  write_adapter();
  EXPECT_EQ(refusal(), "") << "a record of stages is good to have, but a kill may have kept it away";
}

TEST_F(Publish, ARunThatHasCollapsedIsRefused) {
  end_stage("supervised", 12);
  end_stage("contrastive", 20, {{"finished", true}, {"why_stopped", "the entropy is too small"}});
  write_adapter();
  EXPECT_NE(refusal().find("stopped before its end (the entropy is too small)"), std::string::npos) << refusal();
}

TEST_F(Publish, WhatIsThereIsLeftAlone) {
  finish();
  publish_run(folder_.path(), to_);
  EXPECT_NE(refusal().find("is there already"), std::string::npos);
}

TEST_F(Publish, WhatIsTooLargeIsRefusedAndLeavesNothingBehind) {
  finish();
  write_adapter(40'000);  // 43.9 MiB
  EXPECT_NE(refusal().find("train with a smaller rank (model.rank, here 40000)"), std::string::npos) << refusal();
  EXPECT_TRUE(files_below(to_.parent_path()).empty());
  write_adapter(12'000);
  EXPECT_TRUE(publish_run(folder_.path(), to_).is_large()) << "13.2 MiB";
}

TEST(RunRecord, TheLastEndOfAStageCounts) {
  const TemporaryFolder folder;
  EXPECT_TRUE(recorded_stages(folder.path()).empty());
  record_stage(folder.path(), {{.stage = "supervised", .steps = 1}, {}});
  record_stage(folder.path(), {{.stage = "contrastive", .steps = 2, .why_stopped = "collapse"}, {}});
  const TrialFigures figures{.first_success = 0.5, .first_distinct = 2.0, .reward = 0.25, .best_log = 0.0};
  const TrainedOn on{"an H200", false, "an H200"};
  record_stage(folder.path(), {{.stage = "supervised", .steps = 3, .validated = figures}, on});
  const auto stages = recorded_stages(folder.path());
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].end.stage, "contrastive");
  EXPECT_EQ(stages[0].end.why_stopped, "collapse");
  EXPECT_FALSE(stages[0].end.validated);
  EXPECT_EQ(stages[1].end.steps, 3);
  EXPECT_EQ(stages[1].on, on);
  ASSERT_TRUE(stages[1].end.validated);
  EXPECT_EQ(stages[1].end.validated->first_success, 0.5);
  EXPECT_EQ(stages[1].end.validated->best_log, 0.0);
}

}  // namespace
}  // namespace cudal1
