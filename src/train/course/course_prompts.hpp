// What the model of a run is asked, in training and in trials alike.
#pragma once

#include "policy/prompt/trained_prompt.hpp"
#include "train/data/training_prompt.hpp"
#include "train/rollout/learning_model.hpp"
#include "train/run/training_config.hpp"
#include "train/stages/contrastive_stage.hpp"

namespace cudal1 {

//! The model must outlive what is returned: it counts tokens.
TrainingPromptOptions prompt_options(const RunSettings& run, const vgpu::GpuProfile& gpu, const LearningModel& model);
MakePrompt prompts_for_directives(const TrainingPromptOptions& options);

//! The same for whoever uses what was trained.
TrainedPrompt trained_prompt_of(const TrainingConfig& config);

}  // namespace cudal1
