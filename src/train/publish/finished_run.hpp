// A training run that has come to its end, as its folder tells it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/files/lora_adapter.hpp"
#include "train/run/run_history.hpp"
#include "train/run/training_config.hpp"

namespace cudal1 {

struct FinishedStage {
  std::string stage;
  std::int64_t steps = 0;
  std::vector<RunStart> starts;              //!< that it was trained in; none: a history has not been kept
  std::optional<StageValidation> validated;  //!< after its last step
};

struct FinishedRun {
  std::filesystem::path adapter;  //!< its folder
  TrainingConfig config;
  std::string version;  //!< of the program that began it
  std::string base_sha256, base_name;
  std::int64_t rank = 0;
  double alpha = 0.0;
  std::int64_t modules = 0, numbers = 0;  //!< of the adapter: layers that it changes, what it is made of
  std::int64_t pairs = 0;                 //!< of prompt and answer, in stage 1
  std::vector<RunStart> starts;           //!< of the command
  std::vector<FinishedStage> stages;      //!< as the configuration has them
};

//! Throws Error in one line: where there is no run, or it has not come to its end, with what to do.
FinishedRun read_finished_run(const std::filesystem::path& run);

}  // namespace cudal1
