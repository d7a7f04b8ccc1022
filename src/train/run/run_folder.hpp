// The folder of one training run: what it was told, on which model, and where everything lies that it keeps.
#pragma once

#include <filesystem>
#include <string>

#include "base/unique_fd.hpp"
#include "train/run/training_config.hpp"

namespace cudal1 {

//! Belongs to one process while this object lives.
class RunFolder {
 public:
  //! Makes it, or goes on with one. Throws Error in one line: where another process trains there, where the run was
  //! begun with another configuration (the first key that differs is named) or on another model.
  RunFolder(const std::filesystem::path& folder, const TrainingConfig& config, const std::string& base_model_hash);

  bool is_new() const { return is_new_; }  //!< nothing was there before
  const std::filesystem::path& path() const { return folder_; }

  std::filesystem::path config() const { return folder_ / "config.toml"; }
  std::filesystem::path checkpoints() const { return folder_ / "checkpoints"; }
  std::filesystem::path archive() const { return folder_ / "archive.sqlite"; }   //!< unless [judge] names another
  std::filesystem::path examples() const { return folder_ / "examples.jsonl"; }  //!< pairs of stages 1 and 2
  std::filesystem::path samples() const { return folder_ / "samples.jsonl"; }    //!< what the model wrote in stage 3
  std::filesystem::path metrics() const { return folder_ / "metrics.csv"; }
  std::filesystem::path history() const { return folder_ / "history.jsonl"; }    //!< starts, stages, validations, ends
  std::filesystem::path suspicions() const { return folder_ / "suspicions.jsonl"; }
  //! For TensorBoard a run of its own: steps count anew in each stage.
  std::filesystem::path events(const std::string& stage) const { return folder_ / "events" / stage; }
  std::filesystem::path adapter() const { return folder_ / "adapter"; }  //!< that came of it

 private:
  void lock();
  void begin(const TrainingConfig& config, const std::string& base_model_hash);
  void go_on(const TrainingConfig& config, const std::string& base_model_hash);

  std::filesystem::path folder_;
  UniqueFd lock_;
  bool is_new_ = false;
};

}  // namespace cudal1
