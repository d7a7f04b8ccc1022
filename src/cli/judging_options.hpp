// Who judges the programs of a run or an ablation on this machine.
#pragma once

#include <filesystem>
#include <string>

#include "device/vgpu/model/gpu_profile.hpp"
#include "train/assess/assessor_pool.hpp"
#include "train/run/training_config.hpp"

namespace cudal1 {

//! Where programs are judged.
struct JudgedOn {
  std::string device;  //!< "cuda" or "vgpu"
  std::string name;
  vgpu::GpuProfile gpu;
  bool is_predicted() const { return device == "vgpu"; }
};

std::filesystem::path archive_of(const JudgeSettings& settings, const std::filesystem::path& otherwise);
//! `archive`: unless the settings name another.
AssessorPoolOptions judge_options(const TrainingConfig& config, const JudgedOn& on,
                                  const std::filesystem::path& archive);

}  // namespace cudal1
