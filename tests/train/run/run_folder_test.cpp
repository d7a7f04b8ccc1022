// A run goes on as it was begun, in one process, or not at all.
#include "train/run/run_folder.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "error_of.hpp"

namespace cudal1 {
namespace {

class RunFolderTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "run"; }
  std::string complaint(const TrainingConfig& config, const std::string& model = std::string(64, 'a')) const {
    return error_of([&] { RunFolder(path(), config, model); });
  }
  TemporaryFolder folder_;
  TrainingConfig config_;
};

TEST_F(RunFolderTest, KeepsWhatTheRunWasToldAndGoesOnWithIt) {
  config_.run.seed = 42;
  EXPECT_TRUE(RunFolder(path(), config_, "model").is_new());
  EXPECT_EQ(read_file(path() / "config.toml"), to_toml(config_));
  const nlohmann::json identity = nlohmann::json::parse(read_file(path() / "run.json"));
  EXPECT_EQ(identity.at("seed"), 42);
  EXPECT_EQ(identity.at("base_model"), "model");
  EXPECT_TRUE(identity.at("version").get<std::string>().starts_with("cudal1 "));
  EXPECT_FALSE(RunFolder(path(), config_, "model").is_new());
}

TEST_F(RunFolderTest, AnotherConfigurationIsRefusedAndTheKeyNamed) {
  EXPECT_EQ(complaint(config_), "");
  config_.contrastive.learning_rate = 0.5;
  EXPECT_EQ(complaint(config_), path().string() +
                                    ": was begun with another configuration: contrastive.learning_rate was 0.0001, now "
                                    "it is 0.5; name another folder, or change it back");
}

TEST_F(RunFolderTest, WhatMayChangeIsKeptAsItIsNow) {
  EXPECT_EQ(complaint(config_), "");
  config_.run.checkpoint_every = 3;
  EXPECT_EQ(complaint(config_), "");
  EXPECT_EQ(load_training_config(path() / "config.toml").run.checkpoint_every, 3);
}

TEST_F(RunFolderTest, AnotherModelIsRefused) {
  EXPECT_EQ(complaint(config_), "");
  EXPECT_EQ(
      complaint(config_, std::string(64, 'b')),
      path().string() +
          ": has checkpoints of another model (aaaaaaaaaaaa, not bbbbbbbbbbbb); name that model or another folder");
}

TEST_F(RunFolderTest, ASecondProcessIsRefusedWhileTheFirstLives) {
  {
    const RunFolder first(path(), config_, "model");
    EXPECT_EQ(complaint(config_, "model"),
              path().string() + ": another process trains there; wait for it or name another folder");
  }
  EXPECT_EQ(complaint(config_, "model"), "");
}

TEST_F(RunFolderTest, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(complaint(config_), "");
  write_file_atomically(path() / "run.json", "{");
  EXPECT_EQ(complaint(config_), (path() / "run.json").string() + ": cannot be read; name another folder");
  std::filesystem::remove(path() / "run.json");
  std::filesystem::create_directories(path() / "checkpoints");
  EXPECT_EQ(complaint(config_), path().string() + ": has checkpoints but no run.json; name another folder");
}

}  // namespace
}  // namespace cudal1
