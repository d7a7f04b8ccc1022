// What the model of a run is asked and may answer, in training and in trials alike.
#pragma once

#include "policy/prompt/trained_prompt.hpp"
#include "train/data/training_prompt.hpp"
#include "train/rollout/learning_model.hpp"
#include "train/run/training_config.hpp"
#include "train/stages/contrastive_stage.hpp"
#include "train/stages/judged_answers.hpp"

namespace cudal1 {

//! The model must outlive what is returned: it counts tokens.
TrainingPromptOptions prompt_options(const RunSettings& run, const vgpu::GpuProfile& gpu, const LearningModel& model);
MakePrompt prompts_for_directives(const TrainingPromptOptions& options);

//! What answers in directives are held to, if they are; made once for each task.
TaskGrammar task_grammars(const RunSettings& run);

//! How it was asked, for whoever uses what was trained.
TrainedPrompt trained_prompt_of(const TrainingConfig& config);

}  // namespace cudal1
