// Runs that share their first stages: one run makes them, the others begin where it ended.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "train/run/checkpoint.hpp"
#include "train/run/run_folder.hpp"

namespace cudal1 {

//! The last checkpoint of a stage that is through; nothing where it is not.
std::optional<Checkpoint> end_of_stage(const std::filesystem::path& checkpoints, const std::string& stage);

//! Gives a run without checkpoints what another one learned up to the end of this stage, with its data and numbers. A
//! run that has checkpoints is left as it is. Throws Error where that stage is not through.
void fork_run(const RunFolder& from, const std::string& stage, const RunFolder& to);

}  // namespace cudal1
