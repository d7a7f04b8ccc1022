#include "train/course/course_prompts.hpp"

namespace cudal1 {

TrainingPromptOptions prompt_options(const RunSettings& run, const vgpu::GpuProfile& gpu, const LearningModel& model) {
  return {gpu, static_cast<std::size_t>(run.context_tokens), static_cast<std::size_t>(run.answer_tokens),
          static_cast<std::size_t>(run.written_out_tokens),
          [&model](std::string_view text) { return model.count_tokens(text); }};
}

MakePrompt prompts_for_directives(const TrainingPromptOptions& options) {
  return [options](const TrainingTask& task, ShownPrograms& shown) {
    const Prompt prompt = training_prompt(task, shown.exemplars, ProgramForm::directives, options);
    shown.keep(prompt.exemplars);
    return prompt.text;
  };
}

}  // namespace cudal1
