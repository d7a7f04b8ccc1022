// `train --ablation`: arms trained, tried and compared on this machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "train/run/training_config.hpp"

namespace cudal1 {

struct AblationOptions {
  std::filesystem::path folder;
  std::vector<std::string> arms;  //!< names; none: all
  std::int64_t seeds = 3;
  std::string command = {};  //!< as it can be typed again, which the ablation keeps
  bool as_json = false;
};

//! Begins an ablation in this folder or goes on with it, and reports. Returns the exit code. Throws Error.
int run_ablation(const TrainingConfig& config, const AblationOptions& options);

}  // namespace cudal1
