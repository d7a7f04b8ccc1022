#include "train/ablation/ablation_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/files.hpp"
#include "base/result.hpp"
#include "train/ablation/run_fork.hpp"
#include "train/course/course_prompts.hpp"
#include "train/stages/turns.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t place_of_trials = 1000;  // of randomness; a run counts its own from 1

const std::string first_stages = "shared";  // the run that all arms of a seed begin with

void demand(bool holds, const std::string& what) {
  if (!holds) throw UsageError("--ablation: " + what);
}

fs::path trials_in(const fs::path& folder) { return folder / "trials"; }

}  // namespace

//! One of the paired repetitions. The model is made when it is first needed.
struct Ablation::Seed {
  std::uint64_t number = 0;
  fs::path folder;
  std::function<std::unique_ptr<LearningModel>(std::uint64_t seed)> make_model;
  std::unique_ptr<LearningModel> made = nullptr;
  std::map<std::string, std::unique_ptr<RunFolder>> runs = {};  //!< that are through

  LearningModel& model() {
    if (!made) made = make_model(number);
    return *made;
  }
  fs::path run(const std::string& name) const { return folder / name; }
  fs::path checkpoints(const std::string& name) const { return run(name) / "checkpoints"; }
};

void check_ablation(const TrainingConfig& config, const AblationPlan& plan) {
  const auto all = RunSettings{}.stages;
  demand(config.run.stages == all, "it goes through all three stages; leave run.stages out");
  demand(plan.seeds >= 1, "there must be at least one seed");
  demand(config.tasks.test >= 1, "tasks.test is 0; there must be tasks to try arms on");
  const std::size_t count = config.contrastive.exemplars.selection.count;
  demand(count >= 1, "contrastive.exemplar_count is 0; contrastive arms would be plain ones");
  const auto shuffles = [](const AblationArm& arm) { return arm.shown.scores == ExemplarScores::shuffled; };
  const auto shuffled = std::ranges::find_if(plan.arms, shuffles);
  demand(count >= 2 || shuffled == plan.arms.end(),
         fmt::format("contrastive.exemplar_count is 1, and one score cannot be shuffled; leave the arm '{}' out",
                     shuffled == plan.arms.end() ? "" : shuffled->name));
}

TrialOptions ablation_trial(const TrainingConfig& config, const AblationArm& arm, std::uint64_t seed) {
  TrialOptions options{.rounds = 4, .samples = 4};
  options.answer_tokens = config.run.answer_tokens;
  options.seed = seed_of(seed, {place_of_trials});
  options.exemplars = config.contrastive.exemplars;
  options.exemplars.selection.choice = arm.shown.choice;
  options.exemplars.scores = arm.shown.scores;
  options.exemplars.share_without = 0.0;
  options.reward = config.contrastive.reward;
  options.reward.shape = RewardShape::log_speedup;  // what is compared, whatever was trained with
  options.copies_best = arm.copies_best;
  options.grammar = task_grammars(config.run);
  return options;
}

bool is_ablation(const fs::path& folder) { return fs::exists(trials_in(folder)); }

Ablation::Ablation(const TrainingConfig& config, AblationPlan plan, fs::path folder, AblationParts parts)
    : config_(config), plan_(std::move(plan)), folder_(std::move(folder)), parts_(std::move(parts)) {
  check_ablation(config_, plan_);
  for (const AblationArm& arm : plan_.arms) found_.push_back({arm, {}, {}});
}

bool Ablation::run() {
  for (std::int64_t i = 0; i < plan_.seeds; ++i) {
    if (parts_.stop() || !run_seed(config_.run.seed + static_cast<std::uint64_t>(i))) return false;
    report();
  }
  return true;
}

void Ablation::report() const {
  parts_.found(ablation_scores(found_, seeds_, config_.contrastive.reward.failure_reward));
}

bool Ablation::run_seed(std::uint64_t number) {
  const std::string name = fmt::format("seed-{}", number);
  fs::create_directories(trials_in(folder_) / name);
  Seed seed{.number = number, .folder = folder_ / name, .make_model = parts_.make_model};
  std::vector<std::vector<TrialTask>> trials;
  for (const AblationArm& arm : plan_.arms) {
    auto trial = trial_of(seed, arm);
    if (!trial) return false;
    trials.push_back(std::move(*trial));
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    found_[i].trials.push_back(std::move(trials[i]));
    const std::string run(found_[i].arm.run);
    const auto end = run.empty() ? std::nullopt : end_of_stage(seed.checkpoints(run), std::string(found_[i].arm.stage));
    found_[i].stopped.push_back(end ? end->notes().value("why_stopped", "") : "");
  }
  seeds_.push_back(number);
  return true;
}

std::optional<std::vector<TrialTask>> Ablation::trial_of(Seed& seed, const AblationArm& arm) {
  const fs::path file = trials_in(folder_) / fmt::format("seed-{}", seed.number) / fmt::format("{}.jsonl", arm.name);
  TrialStore trial(file, parts_.test, ablation_trial(config_, arm, seed.number));
  if (trial.is_complete()) return trial.done();
  if (!make_weights(seed, arm)) return std::nullopt;
  const auto progress = [&](std::size_t done, std::size_t all) {
    parts_.step({.stage = fmt::format("seed {} trial of {}", seed.number, arm.name),
                 .step = static_cast<std::int64_t>(done),
                 .steps = static_cast<std::int64_t>(all)});
  };
  const MakePrompt prompt = prompts_for_directives(prompt_options(config_.run, parts_.gpu, seed.model()));
  if (!trial.complete(seed.model(), *parts_.assessor, prompt, parts_.stop, progress)) return std::nullopt;
  return trial.done();
}

//! Trains what this arm needs and is not there yet, and gives the model its weights. False: somebody asked to stop.
bool Ablation::make_weights(Seed& seed, const AblationArm& arm) {
  if (!train_first_stages(seed)) return false;
  const std::string stage(arm.stage), run(arm.run.empty() ? std::string_view(first_stages) : arm.run);
  const auto needed = std::ranges::find(contrastive_runs(), arm.run, &ContrastiveRun::name);
  if (needed != contrastive_runs().end() && !train_contrastive(seed, *needed)) return false;
  if (stage.empty()) {
    seed.model().load_adapter(seed.run(run) / "adapters" / "before_supervised");
    return true;
  }
  const std::optional<Checkpoint> end = end_of_stage(seed.checkpoints(run), stage);
  if (!end) throw Error(fmt::format("{}: its stage {} is not through", seed.run(run).string(), stage));
  const TemporaryFolder restored;
  end->restore(restored.path());
  seed.model().load_adapter(restored.path() / "adapter");
  return true;
}

TrainingConfig Ablation::config_of(const Seed& seed) const {
  TrainingConfig config = config_;
  config.run.seed = seed.number;
  config.judge.archive = parts_.archive;
  return config;
}

bool Ablation::train_first_stages(Seed& seed) {
  TrainingConfig config = config_of(seed);
  config.run.stages.pop_back();
  return train(seed, first_stages, config);
}

bool Ablation::train_contrastive(Seed& seed, const ContrastiveRun& run) {
  TrainingConfig config = config_of(seed);
  config.contrastive.exemplars.selection.choice = run.shown.choice;
  config.contrastive.exemplars.scores = run.shown.scores;
  return train(seed, std::string(run.name), config);
}

//! An ordinary run in a folder of its own; those of stage 3 begin where the shared one ended.
bool Ablation::train(Seed& seed, const std::string& name, const TrainingConfig& config) {
  if (seed.runs.contains(name)) return true;
  auto folder = std::make_unique<RunFolder>(seed.run(name), config, seed.model().base_sha256());
  if (!end_of_stage(folder->checkpoints(), config.run.stages.back()) || !fs::exists(folder->adapter())) {
    if (name != first_stages) fork_run(*seed.runs.at(first_stages), config.run.stages[1], *folder);
    if (TrainingCourse(config, *folder, parts_of(seed, name)).run().stopped) return false;
  }
  seed.runs[name] = std::move(folder);
  return true;
}

CourseParts Ablation::parts_of(Seed& seed, const std::string& name) {
  const std::string title = fmt::format("seed {} {}", seed.number, name);
  CourseParts parts{&seed.model(), parts_.assessor, parts_.train, parts_.validation, parts_.gpu,
                    parts_.judged_on};
  parts.stop = parts_.stop;
  parts.say = [this, title](const std::string& line) { parts_.say(fmt::format("{}: {}", title, line)); };
  parts.step = [this, title](StepReport report) {
    report.stage = fmt::format("{} {}", title, report.stage);
    parts_.step(report);
  };
  parts.seconds_since_1970 = parts_.seconds_since_1970;
  return parts;
}

}  // namespace cudal1
