#include "train/course/course_prompts.hpp"

#include <map>
#include <memory>
#include <string>

#include "policy/grammar/directive_grammar.hpp"

namespace cudal1 {

TrainingPromptOptions prompt_options(const RunSettings& run, const vgpu::GpuProfile& gpu, const LearningModel& model) {
  return {gpu, static_cast<std::size_t>(run.context_tokens), static_cast<std::size_t>(run.answer_tokens),
          static_cast<std::size_t>(run.written_out_tokens),
          [&model](std::string_view text) { return model.count_tokens(text); }};
}

MakePrompt prompts_for_directives(const TrainingPromptOptions& options) {
  return [options](const TrainingTask& task, const std::vector<PromptExemplar>& exemplars) {
    return training_prompt(task, exemplars, ProgramForm::directives, options).text;
  };
}

TaskGrammar task_grammars(const RunSettings& run) {
  if (!run.grammar) return no_grammar;
  const auto known = std::make_shared<std::map<std::string, std::string>>();  // by hash of the task
  return [known](const TrainingTask& task) {
    std::string& grammar = (*known)[task.task.hash];
    if (grammar.empty()) grammar = directive_grammar(task.task.graph, {.may_be_empty = false, .with_analysis = true});
    return grammar;
  };
}

TrainedPrompt trained_prompt_of(const TrainingConfig& config) {
  TrainedPrompt made;
  made.form = PromptForm::compact;
  made.program = ProgramForm::directives;
  made.context_tokens = static_cast<std::size_t>(config.run.context_tokens);
  made.answer_tokens = static_cast<std::size_t>(config.run.answer_tokens);
  made.exemplars = config.contrastive.exemplars.selection;
  made.shows_scores = config.contrastive.exemplars.scores != ExemplarScores::hidden;
  made.grammar = config.run.grammar;
  made.texts = prompt_texts_hash(made.form);
  return made;
}

}  // namespace cudal1
