#include "train/stages/self_supervised_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "model/sampling/scores_not_numbers.hpp"
#include "train/collapse_watch.hpp"
#include "train/learning_rate.hpp"
#include "train/reward_shaping.hpp"
#include "train/stages/supervised_stage.hpp"
#include "train/stages/turns.hpp"

namespace cudal1 {
namespace {

// Places of randomness in a step; each has a number of its own.
enum Place : std::uint64_t { order_of_tasks = 1, exemplars_of_prompt = 2, answers_of_prompt = 3, order_of_pairs = 4 };

constexpr std::size_t most_exemplars = 2;  // a third of the prompts each shows none, one and two

//! Any that were right, as likely: speed does not matter here.
ExemplarPoolOptions any_programs() {
  ExemplarPoolOptions options;
  options.selection.choice = ExemplarChoice::random;
  options.selection.count = most_exemplars;
  return options;
}

//! What answers would earn in stage 3 if nobody minded copies. Nothing is learned from it: it is shown.
class EarnedRewards {
 public:
  explicit EarnedRewards(const RewardOptions& options) : options_(options) {}
  void add(const SampleOutcome& outcome, const std::string& empty_plan_hash) {
    const ShapedReward reward = shaped_reward(outcome, {empty_plan_hash, {}}, options_);
    if (reward.kind == SampleKind::uncounted) return;
    rewards_ += reward.reward;
    counted_ += 1.0;
    if (reward.kind != SampleKind::success) return;
    log_speedups_ += std::log(outcome.speedup);
    right_ += 1.0;
    best_ = std::max(best_, outcome.speedup);
  }
  void tell(SelfSupervisedStep& step) const {
    step.reward = counted_ > 0.0 ? rewards_ / counted_ : 0.0;
    step.mean_log_speedup = right_ > 0.0 ? log_speedups_ / right_ : 0.0;
    step.best_speedup = best_;
  }

 private:
  RewardOptions options_;
  double rewards_ = 0.0, counted_ = 0.0, log_speedups_ = 0.0, right_ = 0.0, best_ = 0.0;
};

}  // namespace

SelfSupervisedStage::SelfSupervisedStage(const SelfSupervisedSettings& settings, double written_out_share,
                                         std::uint64_t seed, Parts parts)
    : settings_(settings),
      written_out_share_(written_out_share),
      seed_(seed),
      parts_(std::move(parts)),
      pools_(parts_.tasks.size(), ProgramPool(any_programs())) {
  if (parts_.tasks.empty()) throw Error("there is no task to learn from");
  const auto tasks = static_cast<std::int64_t>(parts_.tasks.size());
  tasks_a_step_ = std::clamp<std::int64_t>(own_pairs() / settings.most_plans, 1, tasks);
  steps_ = (settings.rounds * tasks + tasks_a_step_ - 1) / tasks_a_step_;
}

void SelfSupervisedStage::set_answer_tokens(std::int64_t directives, std::int64_t written_out) {
  directive_tokens_ = directives;
  written_out_tokens_ = written_out;
}

std::int64_t SelfSupervisedStage::own_pairs() const {
  const auto borrowed = static_cast<std::int64_t>(static_cast<double>(settings_.batch) * settings_.supervised_share);
  return std::max<std::int64_t>(1, settings_.batch - borrowed);
}

TaskPrompt SelfSupervisedStage::prompt_of(std::size_t task, std::size_t index) const {
  const auto step = static_cast<std::uint64_t>(steps_done_);
  Random random(seed_of(seed_, {exemplars_of_prompt, step, index}));
  ShownPrograms shown = pools_[task].draw(random);
  shown.exemplars.resize(std::min<std::size_t>(shown.exemplars.size(), random.below(most_exemplars + 1)));
  const bool is_written_out = random.uniform() < written_out_share_;
  const ProgramForm form = is_written_out ? ProgramForm::written_out : ProgramForm::directives;
  return {&parts_.tasks[task],
          {parts_.prompt(parts_.tasks[task], shown.exemplars, form), settings_.samples,
           seed_of(seed_, {answers_of_prompt, step, index}), is_written_out ? written_out_tokens_ : directive_tokens_,
           is_written_out ? std::string() : parts_.grammar(parts_.tasks[task])}};
}

std::vector<PromptAndAnswer> SelfSupervisedStage::successes(std::span<const TaskPrompt> prompts,
                                                            const std::vector<std::vector<JudgedAnswer>>& groups,
                                                            SelfSupervisedStep& made) {
  std::vector<PromptAndAnswer> pairs;
  std::int64_t right = 0;
  EarnedRewards earned(parts_.reward);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string empty = parts_.assessor->empty_plan_hash(*prompts[i].task);
    std::set<std::string> of_prompt;
    std::vector<std::string> all;
    for (const JudgedAnswer& judged : groups[i]) {
      const SampleOutcome& outcome = judged.assessment.outcome;
      ++made.samples;
      all.push_back(outcome.plan_hash);
      earned.add(outcome, empty);
      if (!is_success(outcome, empty, parts_.reward.least_replaced_share)) continue;
      ++right;
      if (may_learn(prompts[i].task->task.hash, outcome.plan_hash) && of_prompt.insert(outcome.plan_hash).second)
        pairs.push_back({prompts[i].asked.prompt, judged.answer.text});
    }
    made.distinct_plans += static_cast<double>(distinct_plans(all)) / static_cast<double>(groups.size());
  }
  made.success_rate = made.samples > 0 ? static_cast<double>(right) / static_cast<double>(made.samples) : 0.0;
  made.learned = std::ssize(pairs);
  earned.tell(made);
  return pairs;
}

bool SelfSupervisedStage::may_learn(const std::string& task_hash, const std::string& plan_hash) {
  std::set<std::string>& plans = learned_plans_[task_hash];
  if (plans.contains(plan_hash)) return true;
  return std::ssize(plans) < settings_.most_plans && plans.insert(plan_hash).second;
}

std::vector<TaskPrompt> SelfSupervisedStage::prompts_of_step() const {
  std::vector<TaskPrompt> prompts;
  for (const std::size_t task : turns_of_step(parts_.tasks.size(), static_cast<std::size_t>(tasks_a_step_), steps_done_,
                                              seed_of(seed_, {order_of_tasks})))
    prompts.push_back(prompt_of(task, prompts.size()));
  return prompts;
}

//! Beside so many of its own; the shares of a batch hold where successes are few, too.
std::int64_t SelfSupervisedStage::borrowed_pairs(std::int64_t own) const {
  const std::int64_t most = settings_.batch - own_pairs();
  const double share = settings_.supervised_share;
  if (share >= 1.0) return most;
  return std::min(most, static_cast<std::int64_t>(std::ceil(static_cast<double>(own) * share / (1.0 - share))));
}

void SelfSupervisedStage::learn(std::vector<PromptAndAnswer> pairs, SelfSupervisedStep& made) {
  const auto begin = std::chrono::steady_clock::now();
  if (!parts_.examples.empty()) {
    // The turns are those of a full batch, so that every pair has its own.
    std::vector<PromptAndAnswer> turn =
        pairs_of_step(parts_.examples, settings_.batch - own_pairs(), steps_done_, seed_of(seed_, {order_of_pairs}));
    turn.resize(static_cast<std::size_t>(borrowed_pairs(made.learned)));
    std::ranges::move(turn, std::back_inserter(pairs));
  }
  made.has_update = !pairs.empty();
  if (made.has_update) made.update = parts_.model->learn(pairs, made.learning_rate);
  made.learning_seconds = seconds_since(begin);
}

std::optional<SelfSupervisedStep> SelfSupervisedStage::step() {
  SelfSupervisedStep made{.step = steps_done_};
  made.learning_rate = cosine_learning_rate({.peak = settings_.learning_rate, .steps = steps_}, steps_done_);
  const std::vector<TaskPrompt> prompts = prompts_of_step();
  try {
    const auto groups = judged_answers(*parts_.model, *parts_.assessor, prompts, made.spent);
    if (parts_.stop()) return std::nullopt;
    for (std::size_t i = 0; i < groups.size(); ++i) parts_.sampled(steps_done_, *prompts[i].task, groups[i]);
    learn(successes(prompts, groups, made), made);
  } catch (const ScoresNotNumbers& problem) {
    made.update.why_skipped = problem.what();
  }
  ++steps_done_;
  return made;
}

nlohmann::json SelfSupervisedStage::state() const { return {{"learned_plans", learned_plans_}}; }

void SelfSupervisedStage::restore(std::int64_t steps_done, const nlohmann::json& said) try {
  // Runs before kept no plans.
  learned_plans_ = said.value("learned_plans", std::map<std::string, std::set<std::string>>());
  steps_done_ = steps_done;
} catch (const nlohmann::json::exception& problem) {
  throw Error(fmt::format("the checkpoint is damaged: {}", problem.what()));
}

}  // namespace cudal1
