// The tasks of a training run, by what they are for; those of a split are made when somebody wants them.
#pragma once

#include <vector>

#include "device/vgpu/model/gpu_profile.hpp"
#include "tasks/generated_task.hpp"
#include "train/run/training_config.hpp"
#include "train/training_task.hpp"

namespace cudal1 {

//! As many as the settings say for this split: generated, with references that are expected to take as long as they
//! say; nothing is measured. The same settings give the same tasks. Throws Error.
std::vector<TrainingTask> make_tasks(TaskSplit split, const TaskSettings& settings, const vgpu::GpuProfile& gpu);

}  // namespace cudal1
