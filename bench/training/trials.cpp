#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/stop_on_interrupt.hpp"
#include "parts.hpp"
#include "train/ablation/trial_store.hpp"
#include "train/course/course_prompts.hpp"
#include "train/stages/turns.hpp"

namespace cudal1::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t place_of_samples = 2000;  // of randomness; runs and ablations have lower ones

struct NamedAdapter {
  std::string name;
  fs::path folder;
};

NamedAdapter adapter_of(const std::string& said) {
  const std::size_t equals = said.find('=');
  if (equals == 0 || equals == std::string::npos) throw UsageError("--adapter: NAME=FOLDER, not " + said);
  return {said.substr(0, equals), said.substr(equals + 1)};
}

ProgramForm form_of(const std::string& name) {
  const auto form = program_form_from_string(name);
  if (!form) throw UsageError("--form: there is no form " + name);
  return *form;
}

//! The same draws for every adapter.
TrialOptions trial_options(const TrainingConfig& config, const TrialBenchOptions& options, ProgramForm form) {
  TrialOptions made{.rounds = options.rounds, .samples = options.samples};
  made.answer_tokens = form == ProgramForm::directives ? config.run.answer_tokens : config.run.written_out_tokens;
  made.seed = seed_of(config.run.seed, {place_of_samples});
  made.exemplars = config.contrastive.exemplars;
  made.exemplars.share_without = 0.0;
  made.reward = config.contrastive.reward;
  made.reward.shape = RewardShape::log_speedup;
  if (form == ProgramForm::directives) made.grammar = task_grammars(config.run);  // as in training
  return made;
}

class Trials {
 public:
  Trials(const BenchSetting& setting, const TrialBenchOptions& options)
      : setting_(setting), options_(options), tasks_(setting.tasks(TaskSplit::test)), assessor_(setting.judging()) {}

  //! False: somebody asked to stop.
  bool run(const NamedAdapter& adapter, const std::string& form) {
    const std::string title = fmt::format("{}.{}", adapter.name, form);
    const TrialOptions trial = trial_options(setting_.config, options_, form_of(form));
    TrialStore store(options_.folder / (title + ".jsonl"), tasks_, trial);
    if (store.is_complete()) return true;
    model().load_adapter(adapter.folder);
    const auto progress = [&](std::size_t done, std::size_t all) {
      tell(fmt::format("{}: {} of {} tasks", title, done, all));
    };
    return store.complete(model(), assessor_, prompt(form_of(form)), StopOnInterrupt::is_requested, progress);
  }

 private:
  LearningModel& model() {
    if (!model_) model_ = model_to_train(setting_.config);
    return *model_;
  }

  MakePrompt prompt(ProgramForm form) {
    return prompts_for(form, prompt_options(setting_.config.run, setting_.on.gpu, model()));
  }

  const BenchSetting& setting_;
  const TrialBenchOptions& options_;
  std::vector<TrainingTask> tasks_;
  AssessorPool assessor_;
  std::unique_ptr<LearningModel> model_;  //!< made when it is first needed
};

}  // namespace

int run_trials(const BenchOptions& common, const TrialBenchOptions& options) {
  const StopOnInterrupt interrupt;
  const BenchSetting setting(common);
  fs::create_directories(options.folder);
  Trials trials(setting, options);
  for (const std::string& form : options.forms)
    for (const std::string& adapter : options.adapters)
      if (!trials.run(adapter_of(adapter), form)) return to_go_on;
  return 0;
}

}  // namespace cudal1::bench
