// What `train` is made of on this machine: a model, judges, tasks, and somebody who watches.
#pragma once

#include <filesystem>
#include <string>

#include "train/run/training_config.hpp"

namespace cudal1 {

//! Trains in this folder, or goes on with what was begun there, and reports. Returns the exit code. Throws Error.
//! `command`: as it can be typed again, which the run keeps.
int train(const TrainingConfig& config, const std::filesystem::path& folder, const std::string& command, bool as_json);

}  // namespace cudal1
