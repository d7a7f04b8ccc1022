// What the steps of all stages are shown and kept as: named numbers.
#pragma once

#include <optional>
#include <string>

#include "judge/gpu_idle.hpp"
#include "train/run/metrics_log.hpp"
#include "train/run/progress_line.hpp"
#include "train/stages/contrastive_stage.hpp"
#include "train/stages/self_supervised_stage.hpp"
#include "train/stages/supervised_stage.hpp"

namespace cudal1 {

struct StepNumbers {
  Metrics metrics;
  StepReport report;
  std::string why_skipped;  //!< one line; empty: the weights have changed, or there was nothing to learn
};

StepNumbers numbers_of(const SupervisedStep& step);
StepNumbers numbers_of(const SelfSupervisedStep& step);
StepNumbers numbers_of(const ContrastiveStep& step);

//! As they were where nothing is known of the GPU.
StepNumbers with_gpu_idle(StepNumbers numbers, const std::optional<GpuIdle>& idle);

}  // namespace cudal1
