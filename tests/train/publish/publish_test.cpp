// What others get of a run: nothing of one that has not come to its end, and nothing that its folder does not say.
#include "train/publish/publish.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/files.hpp"
#include "error_of.hpp"
#include "gguf_builder.hpp"
#include "model/files/lora_adapter.hpp"
#include "train/course/course_prompts.hpp"
#include "train/publish/finished_run.hpp"
#include "train/run/checkpoint.hpp"
#include "train/publish/shared_command.hpp"
#include "train/run/run_folder.hpp"
#include "train/run/run_history.hpp"

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
    RunStart start{.begun_s = 1.0, .command = "cudal1 train '/home/somebody/my run.toml' -o runs/first"};
    start.judge = "virtual NVIDIA H200 SXM, 141 GB";
    start.is_predicted = true;
    start.model_device = "a CPU, 2 cores";
    history_.begin(start);
    history_.begin_stage("supervised", 0);
    history_.begin_stage("contrastive", 0);
    history_.add({"supervised", 10, 7, 0.5, 2.0, 0.1, 0.1, 0.0, 0.0});  // before its last step
    history_.add({"contrastive", 34, 7, 0.875, 3.5, 0.4321, 0.5, std::log(1.75), 0.1});
  }

  std::string refusal() const {
    return error_of([this] { publish_run(folder_.path(), to_); });
  }

  TemporaryFolder scratch_;
  RunFolder folder_{scratch_.path() / "run", two_stages(), std::string(64, 'a')};
  RunHistory history_{folder_.history()};
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
        "Speed-ups are predictions", "Made in 1 start of:\n```\ncudal1 train 'my run.toml' -o runs/first\n```\n",
        "./cudal1 train config.toml -o RUN", "license: apache-2.0", "Apache-2.0",
        "has a licence of its own"})
    EXPECT_NE(card.find(said), std::string::npos) << said << " is not in\n" << card;
}

TEST_F(Publish, TheCardSaysOnWhatEachStartOfAStageRan) {
  finish();
  history_.begin({.begun_s = 2.0,
                  .command = "cudal1 train other.toml",
                  .judge = "NVIDIA H200",
                  .model_device = "NVIDIA H200"});
  history_.begin_stage("contrastive", 20);
  publish_run(folder_.path(), to_);
  const std::string card = read_file(to_ / "README.md");
  for (const char* said :
       {"| supervised | 12 | virtual NVIDIA H200 SXM, 141 GB (predicted times) | a CPU, 2 cores |",
        "| contrastive | 34 | virtual NVIDIA H200 SXM, 141 GB (predicted times) and NVIDIA H200 (measured times) | "
        "a CPU, 2 cores and NVIDIA H200 |",
        "Made in 2 starts of:", "\ncudal1 train other.toml\n", "Some speed-ups are predictions"})
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
  EXPECT_EQ(refusal(), "") << "a history is good to have, but what is published does not need it";
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

TEST(SharedCommand, NamesNoFolderOfTheMachine) {
  EXPECT_EQ(shared_command("cudal1 train configs/small.toml -o runs/first --processes=4"),
            "cudal1 train configs/small.toml -o runs/first --processes=4");
  EXPECT_EQ(shared_command("cudal1 train /home/me/a.toml -o ../../me/runs/ --set judge.archive=/home/me/x.sqlite"),
            "cudal1 train a.toml -o runs/ --set judge.archive=x.sqlite");
  EXPECT_EQ(shared_command("a '/home/me/it'\\''s mine' 'b=\"/home/me/c\"' /home/me=you/d '~/e' c=.5 'f=[\"rows\"]'"),
            "a 'it'\\''s mine' 'b=\"c\"' d e c=.5 'f=[\"rows\"]'");
}

}  // namespace
}  // namespace cudal1
