// The tasks of a training run, by what they are for.
#pragma once

#include <vector>

#include "device/vgpu/model/gpu_profile.hpp"
#include "train/run/training_config.hpp"
#include "train/training_task.hpp"

namespace cudal1 {

struct TaskSet {
  std::vector<TrainingTask> train, validation, test;
};

//! Generated, with references that are expected to take as long as the settings say; nothing is measured. The same
//! settings give the same tasks. Throws Error.
TaskSet make_task_set(const TaskSettings& settings, const vgpu::GpuProfile& gpu);

}  // namespace cudal1
