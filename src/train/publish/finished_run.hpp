// A training run that has come to its end, as its folder tells it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/files/lora_adapter.hpp"
#include "train/course/run_record.hpp"
#include "train/run/training_config.hpp"

namespace cudal1 {

struct FinishedRun {
  std::filesystem::path adapter;  //!< its folder
  TrainingConfig config;
  std::string version;  //!< of the program that began it
  std::string base_sha256, base_name;
  std::int64_t rank = 0;
  double alpha = 0.0;
  std::int64_t modules = 0, numbers = 0;  //!< of the adapter: layers that it changes, what it is made of
  std::int64_t pairs = 0;                 //!< of prompt and answer, in stage 1
  std::vector<RecordedStage> stages;      //!< as the configuration has them
};

//! Throws Error in one line: where there is no run, or it has not come to its end, with what to do.
FinishedRun read_finished_run(const std::filesystem::path& run);

}  // namespace cudal1
