#include "train/stages/self_supervised_stage.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "base/seconds_since.hpp"
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
  void add(const SampleOutcome& outcome, const std::string& empty_plan_hash) {
    const ShapedReward reward = shaped_reward(outcome, {empty_plan_hash, {}}, {});
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
                                                            SelfSupervisedStep& made) const {
  std::vector<PromptAndAnswer> pairs;
  std::int64_t right = 0;
  EarnedRewards earned;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string empty = parts_.assessor->empty_plan_hash(*prompts[i].task);
    std::set<std::string> plans;
    std::vector<std::string> all;
    for (const JudgedAnswer& judged : groups[i]) {
      const SampleOutcome& outcome = judged.assessment.outcome;
      ++made.samples;
      all.push_back(outcome.plan_hash);
      earned.add(outcome, empty);
      if (!is_success(outcome, empty)) continue;
      ++right;
      if (std::ssize(plans) < settings_.most_plans && plans.insert(outcome.plan_hash).second)
        pairs.push_back({prompts[i].asked.prompt, judged.answer.text});
    }
    made.distinct_plans += static_cast<double>(distinct_plans(all)) / static_cast<double>(groups.size());
  }
  made.success_rate = made.samples > 0 ? static_cast<double>(right) / static_cast<double>(made.samples) : 0.0;
  made.learned = std::ssize(pairs);
  earned.tell(made);
  return pairs;
}

std::optional<SelfSupervisedStep> SelfSupervisedStage::step() {
  SelfSupervisedStep made{.step = steps_done_};
  made.learning_rate = cosine_learning_rate({.peak = settings_.learning_rate, .steps = steps_}, steps_done_);
  std::vector<TaskPrompt> prompts;
  for (const std::size_t task : turns_of_step(parts_.tasks.size(), static_cast<std::size_t>(tasks_a_step_), steps_done_,
                                              seed_of(seed_, {order_of_tasks})))
    prompts.push_back(prompt_of(task, prompts.size()));
  const auto groups = judged_answers(*parts_.model, *parts_.assessor, prompts, made.spent);
  if (parts_.stop()) return std::nullopt;
  for (std::size_t i = 0; i < groups.size(); ++i) parts_.sampled(steps_done_, *prompts[i].task, groups[i]);
  std::vector<PromptAndAnswer> pairs = successes(prompts, groups, made);
  if (!parts_.examples.empty()) {
    const std::int64_t borrowed = settings_.batch - own_pairs();
    for (PromptAndAnswer& pair :
         pairs_of_step(parts_.examples, borrowed, steps_done_, seed_of(seed_, {order_of_pairs})))
      pairs.push_back(std::move(pair));
  }
  const auto begin = std::chrono::steady_clock::now();
  if (!pairs.empty()) made.update = parts_.model->learn(pairs, made.learning_rate);
  made.learning_seconds = seconds_since(begin);
  ++steps_done_;
  return made;
}

}  // namespace cudal1
