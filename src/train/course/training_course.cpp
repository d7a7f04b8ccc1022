#include "train/course/training_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "model/sampling/scores_not_numbers.hpp"
#include "tasks/speed_spread.hpp"
#include "train/course/course_prompts.hpp"
#include "train/course/sample_log.hpp"
#include "train/run/event_file.hpp"
#include "train/stages/contrastive_stage.hpp"
#include "train/stages/self_supervised_stage.hpp"
#include "train/stages/supervised_stage.hpp"
#include "train/stages/turns.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Places of randomness in a run; each has a number of its own.
enum Place : std::uint64_t {
  variants = 1,
  pairs = 2,
  supervised = 3,
  self_supervised = 4,
  contrastive = 5,
  trial = 6,
  known = 7
};

constexpr std::size_t known_programs = 4;  // of a task, that stage 3 may show from its first step on

PooledProgram pooled(const ScoredVariant& variant) {
  return {variant.program.plan_hash, variant.program.text, variant.speedup};
}

}  // namespace

struct TrainingCourse::Steps {
  std::string stage;
  std::int64_t steps = 0;
  std::function<std::int64_t()> done;
  //! One step. Nothing: somebody asked to stop in the middle of it, and it is still to do.
  std::function<std::optional<StepNumbers>()> step;
  std::function<json()> state = [] { return json::object(); };
  std::function<std::optional<std::string>()> collapse = [] { return std::nullopt; };
  std::int64_t validate_every = 0;       //!< 0: at the end only
  std::function<void()> settle = [] {};  //!< before somebody else asks the assessor
};

//! Of a stage, if it has one.
struct TrainingCourse::Ending {
  bool is_finished = false;
  std::string why_stopped = {};
  bool is_broken = false;
  std::size_t skipped = 0;  //!< steps in a row, the last one included
};

//! Rows of numbers for people, tables and TensorBoard.
class TrainingCourse::Log {
 public:
  Log(TrainingCourse& course, const Steps& steps, std::int64_t first_step)
      : course_(course),
        steps_(steps),
        first_step_(first_step),
        events_(course.folder_.events(steps.stage), first_step, course.parts_.seconds_since_1970()) {}

  void add(std::int64_t step, StepNumbers numbers) {
    course_.metrics_.add({steps_.stage, step}, numbers.metrics);
    events_.add(step, numbers.metrics, course_.parts_.seconds_since_1970());
    const double each = seconds_since(begin_) / static_cast<double>(step + 1 - first_step_);
    numbers.report.stage = steps_.stage;
    numbers.report.step = step + 1;
    numbers.report.steps = steps_.steps;
    numbers.report.seconds_left = each * static_cast<double>(steps_.steps - step - 1);
    course_.parts_.step(numbers.report);
  }

 private:
  TrainingCourse& course_;
  const Steps& steps_;
  std::int64_t first_step_;
  EventFile events_;
  Clock::time_point begin_ = Clock::now();
};

TrainingCourse::TrainingCourse(const TrainingConfig& config, RunFolder& folder, CourseParts parts)
    : config_(config),
      folder_(folder),
      history_(folder.history()),
      parts_(std::move(parts)),
      variants_(folder.path() / "variants.jsonl",
                {.variants = static_cast<std::size_t>(config.supervised.variants),
                 .seed = seed_of(config.run.seed, {variants}),
                 .gpu = parts_.gpu,
                 .least_replaced_share = config.contrastive.reward.least_replaced_share,
                 .measured_on = parts_.judged_on,
                 .known = config.supervised.programs,
                 .stop = parts_.stop,
                 .progress =
                     [this](std::size_t done, std::size_t all) {
                       parts_.step({.stage = "data",
                                    .step = static_cast<std::int64_t>(done),
                                    .steps = static_cast<std::int64_t>(all)});
                     }}),
      asked_(prompt_options(config.run, parts_.gpu, *parts_.model)),
      grammar_(task_grammars(config.run)),
      resumed_(newest_checkpoint(folder.checkpoints())),
      best_speedup_(resumed_ ? resumed_->notes().value("best_speedup", 0.0) : 0.0),
      metrics_(folder.metrics(), resumed_ ? std::optional(resumed_->name()) : std::nullopt) {}

CourseEnd TrainingCourse::run() {
  CourseEnd end;
  if (!prepare_data()) return {.stages = {}, .stopped = true};
  for (std::size_t i = 0; i < config_.run.stages.size() && !end.stopped; ++i) {
    end.stages.push_back(run_stage(i));
    end.stopped = parts_.stop();
    if (!end.stages.back().why_stopped.empty()) break;
  }
  if (end.stopped || (!end.stages.empty() && end.stages.back().is_broken)) return end;
  parts_.model->save_adapter(folder_.adapter());
  save_trained_prompt(trained_prompt_of(config_), folder_.adapter());
  return end;
}

bool TrainingCourse::prepare_data() {
  if (!variants_.complete(parts_.train, *parts_.assessor)) return false;
  const VariantCounts counts = variants_.counts();
  parts_.say(fmt::format("{} of {} programs of the writer are right, for {} tasks", counts.right, counts.tried,
                         parts_.train.size()));
  if (is_wanted("contrastive")) choose_contrastive_tasks();
  examples_ = examples();
  return true;
}

bool TrainingCourse::is_wanted(const std::string& stage) const {
  return std::ranges::find(config_.run.stages, stage) != config_.run.stages.end();
}

//! Made once: a run that goes on reads what it was begun with.
std::vector<TrainingExample> TrainingCourse::examples() const {
  if (fs::exists(folder_.examples())) return read_examples(folder_.examples());
  std::vector<TaskVariants> tasks;
  for (const TrainingTask& task : parts_.train)
    if (TaskVariants of = variants_.of(task); !of.variants.empty()) tasks.push_back(std::move(of));
  Random random(seed_of(config_.run.seed, {pairs}));
  SupervisedDataOptions options{static_cast<std::size_t>(config_.supervised.pairs),
                                config_.supervised.written_out_share, asked_};
  const SupervisedData made = supervised_data(tasks, options, random);
  parts_.say(fmt::format("{} pairs to learn from ({} draws had too long a prompt, {} too long an answer)",
                         made.examples.size(), made.counts.too_long_prompt, made.counts.too_long_answer));
  write_examples(folder_.examples(), made.examples);
  return made.examples;
}

//! Learning from speed needs tasks where speed can differ. Hours of stages 1 and 2 are no good time to find that none
//! can.
void TrainingCourse::choose_contrastive_tasks() {
  for (const TrainingTask& task : parts_.train) {
    std::vector<double> speeds;
    for (const ScoredVariant& variant : variants_.of(task).variants) speeds.push_back(variant.speedup);
    const SpeedSpread wanted{static_cast<std::size_t>(config_.tasks.spread_programs), config_.tasks.least_speed_ratio};
    if (config_.tasks.least_speed_ratio <= 0.0 || is_worth_training(speeds, wanted)) contrastive_tasks_.push_back(task);
  }
  if (contrastive_tasks_.empty())
    throw Error(
        fmt::format("none of {} tasks has {} right programs whose speeds differ by {}x; lower tasks.spread_programs or "
                    "tasks.least_speed_ratio, or try more supervised.variants",
                    parts_.train.size(), config_.tasks.spread_programs, config_.tasks.least_speed_ratio));
  parts_.say(fmt::format("{} of {} tasks are kept for stage 3", contrastive_tasks_.size(), parts_.train.size()));
}

//! The model at the beginning of a stage: what stage 3 may not leave.
fs::path TrainingCourse::first_adapter_of(const std::string& stage) const {
  return folder_.path() / "adapters" / ("before_" + stage);
}

StageEnd TrainingCourse::run_stage(std::size_t index) {
  const std::string& stage = config_.run.stages[index];
  if (is_through(index)) return through(index);
  begin_or_go_on(stage);
  history_.begin_stage(stage, resumed_ ? resumed_->name().step : 0);
  StageEnd end = stage == "supervised"        ? run_supervised()
                 : stage == "self_supervised" ? run_self_supervised()
                                              : run_contrastive();
  validate_end(end);
  return end;
}

//! The place among stages of the one that a run goes on with.
std::size_t TrainingCourse::resumed_index() const {
  const auto at = std::ranges::find(config_.run.stages, resumed_->name().stage) - config_.run.stages.begin();
  return static_cast<std::size_t>(at);
}

bool TrainingCourse::is_through(std::size_t index) const {
  if (!resumed_) return false;
  if (index != resumed_index()) return index < resumed_index();
  const json& notes = resumed_->notes();
  if (!notes.value("finished", false)) return false;
  const bool has_steps_left = resumed_->name().step < notes.value("steps", resumed_->name().step + 1);
  return notes.value("why_stopped", "").empty() || still_stopped() || !has_steps_left;
}

//! By limits as they are now, which may have changed since.
bool TrainingCourse::still_stopped() const {
  const json& notes = resumed_->notes();
  if (notes.value("why_stopped", "").empty()) return false;
  if (notes.value("skipped_in_a_row", std::size_t{0}) >= config_.collapse.most_skipped) return true;
  if (resumed_->name().stage != "contrastive") return false;
  return ContrastiveStage::collapse(json::parse(resumed_->read("state.json")), config_.collapse).has_value();
}

//! An earlier start has ended it. What it learned is in the model if nothing came after it; then what that start had no
//! time to validate is validated now.
StageEnd TrainingCourse::through(std::size_t index) {
  StageEnd end{.stage = config_.run.stages[index]};
  for (const Checkpoint& each : finished_checkpoints(folder_.checkpoints()))
    if (each.name().stage == end.stage) end.steps = each.name().step;
  if (index < resumed_index()) return end;
  if (still_stopped()) {
    end.why_stopped = resumed_->notes().value("why_stopped", "");
    end.is_broken = resumed_->notes().value("broken", false);
  }
  const TemporaryFolder restored;
  resumed_->restore(restored.path());
  parts_.model->load_adapter(restored.path() / "adapter");
  if (!history_.validation_at(end.stage, end.steps)) validate_end(end);
  return end;
}

//! Weights that cannot write are tried on nothing, and no stage goes on from them.
void TrainingCourse::validate_end(StageEnd& end) try {
  if (!end.is_broken) end.validated = validate(end.stage, end.steps);
} catch (const ScoresNotNumbers& problem) {
  end.is_broken = true;
  if (end.why_stopped.empty()) end.why_stopped = problem.what();
}

//! Weights and optimiser as the stage left them, or as it is to find them.
void TrainingCourse::begin_or_go_on(const std::string& stage) {
  const TemporaryFolder restored;
  if (resumed_) {
    resumed_->restore(restored.path());
    parts_.model->load_adapter(restored.path() / "adapter");
  }
  const bool goes_on = resumed_ && resumed_->name().stage == stage;
  if (!goes_on) {
    parts_.model->begin_stage();
    parts_.model->save_adapter(first_adapter_of(stage));
    resumed_.reset();
  }
  if (stage == "contrastive") {
    if (goes_on) parts_.model->load_adapter(first_adapter_of(stage));
    parts_.model->keep_as_reference();
    if (goes_on) parts_.model->load_adapter(restored.path() / "adapter");
  }
  if (goes_on) parts_.model->load_optimiser(restored.path() / "optimiser.safetensors");
}

StageEnd TrainingCourse::run_supervised() {
  SupervisedStage stage(config_.supervised, seed_of(config_.run.seed, {supervised}), *parts_.model, examples_);
  if (resumed_) stage.go_on_from(resumed_->name().step);
  Steps steps{"supervised", stage.steps(), [&] { return stage.steps_done(); },
              [&] { return numbers_of(stage.step()); }};
  return run_steps(steps);
}

StageEnd TrainingCourse::run_self_supervised() {
  SelfSupervisedStage::Parts parts{
      parts_.model, parts_.assessor, parts_.train, examples_,
      [this](const TrainingTask& task, const std::vector<PromptExemplar>& exemplars, ProgramForm form) {
        return training_prompt(task, exemplars, form, asked_).text;
      }};
  parts.grammar = grammar_;
  parts.stop = parts_.stop;
  parts.reward = config_.contrastive.reward;
  SelfSupervisedStage stage(config_.self_supervised, config_.supervised.written_out_share,
                            seed_of(config_.run.seed, {self_supervised}), parts);
  stage.set_answer_tokens(config_.run.answer_tokens, config_.run.written_out_tokens);
  for (std::size_t i = 0; i < parts_.train.size(); ++i)
    for (const ScoredVariant& each : variants_.of(parts_.train[i]).variants) stage.add_known(i, pooled(each));
  if (resumed_) stage.restore(resumed_->name().step, json::parse(resumed_->read("state.json")));
  Steps steps{"self_supervised", stage.steps(), [&] { return stage.steps_done(); },
              [&]() -> std::optional<StepNumbers> {
                const auto made = stage.step();
                return made ? std::optional(numbers_of(*made)) : std::nullopt;
              }};
  steps.state = [&] { return json{{"stage", stage.state()}}; };
  return run_steps(steps);
}

StageEnd TrainingCourse::run_contrastive() {
  HackWatch watch(folder_.suspicions(), resumed_ ? resumed_->notes().value("watch", json()) : json());
  SampleLog samples(folder_.samples(), resumed_ ? resumed_->notes().value("samples", json()) : json());
  ContrastiveStage::Parts parts{parts_.model, parts_.assessor, contrastive_tasks_, prompts_for_directives(asked_)};
  parts.sampled = [&](std::int64_t step, std::size_t number, const SampledGroup& group) {
    samples.add(step, number, contrastive_tasks_[group.task], group);
    for (std::size_t i = 0; i < group.answers.size(); ++i)
      watch.observe({"contrastive", step}, contrastive_tasks_[group.task].task.name, group.answers[i].program,
                    group.answers[i].assessment, group.rewards[i]);
  };
  parts.grammar = grammar_;
  parts.stop = parts_.stop;
  ContrastiveStage stage(config_.contrastive, seed_of(config_.run.seed, {contrastive}), config_.run.answer_tokens,
                         parts);
  for (std::size_t i = 0; i < contrastive_tasks_.size(); ++i)
    for (const ScoredVariant& each : variants_.of(contrastive_tasks_[i]).variants)
      stage.add_known_trick(i, each.program.techniques);
  if (resumed_)
    stage.restore(json::parse(resumed_->read("state.json")));
  else
    for (std::size_t i = 0; i < contrastive_tasks_.size(); ++i) {
      const std::vector<ScoredVariant> all = variants_.of(contrastive_tasks_[i]).variants;
      const std::vector<std::size_t> order = shuffled(all.size(), seed_of(config_.run.seed, {known, i}));
      for (std::size_t k = 0; k < std::min(known_programs, order.size()); ++k)
        stage.add_known(i, pooled(all[order[k]]));
    }
  parts_.gpu_idle();  // what was before does not count
  Steps steps{"contrastive", config_.contrastive.steps, [&] { return stage.steps_done(); },
              [&]() -> std::optional<StepNumbers> {
                const auto made = stage.step();
                if (!made) return std::nullopt;
                return with_gpu_idle(numbers_of(*made), parts_.gpu_idle());
              }};
  steps.state = [&] { return json{{"stage", stage.state()}, {"watch", watch.state()}, {"samples", samples.state()}}; };
  steps.collapse = [&] { return stage.collapse(config_.collapse); };
  steps.validate_every = config_.run.validate_every;
  steps.settle = [&] { stage.settle(); };
  StageEnd end = run_steps(steps);
  parts_.say(watch.summary());
  return end;
}

StageEnd TrainingCourse::run_steps(const Steps& steps) {
  std::int64_t kept = steps.done();
  Log log(*this, steps, kept);
  std::size_t skipped = resumed_ ? resumed_->notes().value("skipped_in_a_row", std::size_t{0}) : 0;
  StageEnd end{.stage = steps.stage};
  while (steps.done() < steps.steps && !parts_.stop() && end.why_stopped.empty()) {
    const std::int64_t step = steps.done();
    std::optional<StepNumbers> made = steps.step();
    if (!made) break;
    StepNumbers& numbers = *made;
    if (!numbers.why_skipped.empty())
      parts_.say(fmt::format("step {} of {} is left out: {}", step + 1, steps.stage, numbers.why_skipped));
    skipped = numbers.why_skipped.empty() ? 0 : skipped + 1;
    if (skipped >= config_.collapse.most_skipped) {
      end.why_stopped = fmt::format("{} steps in a row were left out: {}", skipped, numbers.why_skipped);
      end.is_broken = true;
    }
    add_run_best(numbers);
    log.add(step, std::move(numbers));
    if (const auto reason = steps.collapse(); reason && end.why_stopped.empty()) end.why_stopped = *reason;
    const bool goes_on = steps.done() < steps.steps && end.why_stopped.empty();
    if (goes_on && steps.done() % config_.run.checkpoint_every == 0) {
      keep(steps, {.skipped = skipped});
      kept = steps.done();
    }
    if (goes_on && steps.validate_every > 0 && steps.done() % steps.validate_every == 0) {
      steps.settle();
      end.steps = steps.done();
      validate_end(end);
    }
  }
  end.steps = steps.done();
  end.validated.reset();  // that was in the middle
  const bool is_finished = end.steps >= steps.steps || !end.why_stopped.empty();
  if (end.steps > kept) keep(steps, {is_finished, end.why_stopped, end.is_broken, skipped});
  return end;
}

//! Progress shows the run's best, in which a step without a success changes nothing.
void TrainingCourse::add_run_best(StepNumbers& numbers) {
  best_speedup_ = std::max(best_speedup_, numbers.report.best.value_or(0.0));
  numbers.report.best = best_speedup_ > 0.0 ? std::optional(best_speedup_) : std::nullopt;
  if (numbers.report.best) numbers.metrics.emplace_back("best_of_run", best_speedup_);
}

void TrainingCourse::keep(const Steps& steps, const Ending& ending) {
  const TemporaryFolder files;
  parts_.model->save_adapter(files.path() / "adapter");
  parts_.model->save_optimiser(files.path() / "optimiser.safetensors");
  const json state = steps.state();
  CheckpointWriter writer(folder_.checkpoints(), {steps.stage, steps.done()});
  writer.add_folder("adapter", files.path() / "adapter");
  writer.add_file("optimiser.safetensors", files.path() / "optimiser.safetensors");
  writer.add_bytes("state.json", state.value("stage", json::object()).dump());
  writer.finish({{"finished", ending.is_finished},
                 {"why_stopped", ending.why_stopped},
                 {"broken", ending.is_broken},
                 {"skipped_in_a_row", ending.skipped},
                 {"steps", steps.steps},
                 {"best_speedup", best_speedup_},
                 {"base_model", parts_.model->base_sha256()},
                 {"seed", config_.run.seed},
                 {"watch", state.value("watch", json())},
                 {"samples", state.value("samples", json())}});
  prune_checkpoints(folder_.checkpoints(), config_.run.keep_checkpoints);
  if (ending.is_finished) resumed_ = newest_checkpoint(folder_.checkpoints());
}

//! Nothing: there is no task for it, or somebody asked to stop before all were judged.
std::optional<TrialFigures> TrainingCourse::validate(const std::string& stage, std::int64_t step) {
  if (parts_.validation.empty() || parts_.stop()) return std::nullopt;
  TrialOptions options;
  options.rounds = 2;
  options.samples = 4;
  options.answer_tokens = config_.run.answer_tokens;
  options.seed = seed_of(config_.run.seed, {trial});
  options.exemplars = config_.contrastive.exemplars;
  options.exemplars.share_without = 0.0;
  options.reward = config_.contrastive.reward;
  options.grammar = grammar_;
  const TrialFigures figures = figures_of(
      policy_trial(*parts_.model, *parts_.assessor, parts_.validation, prompts_for_directives(asked_), options));
  if (parts_.stop()) return std::nullopt;
  parts_.say(fmt::format(
      "after {}: {:.0f}% of first samples are successes, mean reward {:.3f}, best {:.2f}x at the geometric mean "
      "({} tasks to validate with)",
      stage, 100.0 * figures.first_success, figures.reward, std::exp(figures.best_log), parts_.validation.size()));
  history_.add({stage, step, std::ssize(parts_.validation), figures.first_success, figures.first_distinct,
                figures.reward, figures.later_reward, figures.best_log, figures.copy_rate});
  return figures;
}

}  // namespace cudal1
