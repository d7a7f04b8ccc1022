// What a model in training is asked: the compact prompt, the same in all stages.
#pragma once

#include <cstddef>
#include <vector>

#include "policy/prompt/prompt.hpp"
#include "tasks/generated_task.hpp"
#include "train/training_task.hpp"

namespace cudal1 {

struct TrainingPromptOptions {
  vgpu::GpuProfile gpu;
  std::size_t context_tokens = 2048;     //!< of prompt and answer together
  std::size_t answer_tokens = 160;       //!< of directives
  std::size_t written_out_tokens = 700;  //!< of an answer with CUDA in it
  TokenCounter count_tokens = estimated_tokens;

  std::size_t answer_room(ProgramForm form) const {
    return form == ProgramForm::directives ? answer_tokens : written_out_tokens;
  }
};

//! Exemplars are shown in this order. Throws Error where the graph does not fit.
Prompt training_prompt(const TrainingTask& task, std::vector<PromptExemplar> exemplars, ProgramForm form,
                       const TrainingPromptOptions& options);

//! Some exemplar had no room.
bool lacks_exemplars(const Prompt& prompt);

//! What a generated task may be used for, by the hash in its name.
TaskSplit split_of(const TrainingTask& task);

}  // namespace cudal1
