#include "train/data/training_prompt.hpp"

#include <algorithm>

namespace cudal1 {

Prompt training_prompt(const TrainingTask& task, std::vector<PromptExemplar> exemplars, ProgramForm form,
                       const TrainingPromptOptions& options) {
  const PromptSubject subject{.name = task.task.name,
                              .description = {},
                              .graph = task.task.graph,
                              .source = {},
                              .gpu = options.gpu,
                              .exemplars = std::move(exemplars)};
  return make_prompt(subject, {.form = PromptForm::compact,
                               .context_tokens = options.context_tokens,
                               .answer_tokens = options.answer_room(form),
                               .card = CardLength::none,
                               .count_tokens = options.count_tokens,
                               .order = ExemplarOrder::as_given,
                               .program = form});
}

bool lacks_exemplars(const Prompt& prompt) {
  return std::ranges::any_of(prompt.parts, [](const PromptPart& part) { return !part.is_included; });
}

TaskSplit split_of(const TrainingTask& task) {
  const std::string& name = task.task.name;
  return split_of_hash(std::string_view(name).substr(name.rfind('_') + 1));
}

}  // namespace cudal1
