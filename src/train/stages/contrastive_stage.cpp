#include "train/stages/contrastive_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "model/sampling/scores_not_numbers.hpp"
#include "train/learning_rate.hpp"
#include "train/stages/turns.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr std::size_t most_vitals = 64;  // more than any limit looks at

// Places of randomness in a step; each has a number of its own.
enum Place : std::uint64_t { order_of_tasks = 1, exemplars_of_group = 2, answers_of_group = 3 };

json to_json(const StepVitals& vitals) {
  return {{"entropy", vitals.entropy},
          {"kl", vitals.kl ? json(*vitals.kl) : json()},
          {"distinct_plans", vitals.distinct_plans},
          {"trick", vitals.trick.trick},
          {"trick_share", vitals.trick.share},
          {"skipped", vitals.skipped}};
}

StepVitals vitals_from(const json& said) {
  const json& kl = said.at("kl");
  return {said.at("entropy").get<double>(),
          kl.is_null() ? std::nullopt : std::optional(kl.get<double>()),
          said.at("distinct_plans").get<double>(),
          {said.at("trick").get<std::string>(), said.at("trick_share").get<double>()},
          said.at("skipped").get<bool>()};
}

std::vector<StepVitals> vitals_in(const json& state) {
  std::vector<StepVitals> vitals;
  for (const json& each : state.at("vitals")) vitals.push_back(vitals_from(each));
  return vitals;
}

//! Zeros of an update that was none are no KL.
StepVitals vitals_of(const ContrastiveStep& made) {
  return {made.figures.entropy, made.has_update ? std::optional(made.update.kl) : std::nullopt,
          made.figures.distinct_plans, made.figures.trick, !made.update.why_skipped.empty()};
}

}  // namespace

ContrastiveStage::ContrastiveStage(const ContrastiveSettings& settings, std::uint64_t seed, std::int64_t answer_tokens,
                                   Parts parts)
    : settings_(settings),
      seed_(seed),
      answer_tokens_(answer_tokens),
      parts_(std::move(parts)),
      pools_(parts_.tasks.size(), ProgramPool(settings.exemplars)),
      tricks_(parts_.tasks.size()) {
  check(settings.loss);
  check(settings.exemplars);
  if (parts_.tasks.empty()) throw Error("there is no task to learn from");
}

std::vector<SampledGroup> ContrastiveStage::groups_of(std::int64_t step) const {
  std::vector<SampledGroup> groups;
  const auto width = static_cast<std::size_t>(settings_.prompts);
  for (const std::size_t task : turns_of_step(parts_.tasks.size(), width, step, seed_of(seed_, {order_of_tasks})))
    groups.push_back({.task = task, .number = groups.size()});
  return groups;
}

std::unique_ptr<ContrastiveStage::Round> ContrastiveStage::written(std::int64_t step,
                                                                   std::vector<SampledGroup> groups) {
  auto round = std::make_unique<Round>();
  round->step = step;
  round->groups = std::move(groups);
  for (SampledGroup& group : round->groups) {
    const auto seed_at = [&](Place place) {
      return seed_of(
          seed_, {place, static_cast<std::uint64_t>(step), group.number, static_cast<std::uint64_t>(group.resampled)});
    };
    const TrainingTask& task = parts_.tasks[group.task];
    Random random(seed_at(exemplars_of_group));
    group.shown = pools_[group.task].draw(random);
    group.prompt = parts_.prompt(task, group.shown);
    round->prompts.push_back(
        {&task, {group.prompt, settings_.samples, seed_at(answers_of_group), answer_tokens_, parts_.grammar(task)}});
  }
  round->answers = written_answers(*parts_.model, round->prompts, round->spent);
  return round;
}

//! By another thread where there is something else to do meanwhile.
void ContrastiveStage::begin_judging(Round& round) const {
  const auto judge_it = [this, &round] { judge(*parts_.assessor, round.prompts, round.answers, round.spent); };
  round.judging = std::async(settings_.ahead ? std::launch::async : std::launch::deferred, judge_it);
}

std::vector<SampledGroup> ContrastiveStage::weighed(Round& round, RolloutSeconds& spent) {
  if (round.judging.valid()) round.judging.get();
  for (std::size_t i = 0; i < round.groups.size(); ++i) {
    SampledGroup& group = round.groups[i];
    group.answers = std::move(round.answers[i]);
    weigh(group, parts_.assessor->empty_plan_hash(parts_.tasks[group.task]), settings_);
    remember(group);
  }
  spent += round.spent;
  return std::move(round.groups);
}

std::vector<SampledGroup> ContrastiveStage::first_round(RolloutSeconds& spent) {
  std::unique_ptr<Round> round = std::move(ahead_);
  if (!round || round->step != steps_done_) {
    round = written(steps_done_, groups_of(steps_done_));
    begin_judging(*round);
  }
  const std::int64_t next = steps_done_ + 1;
  if (settings_.ahead && next < settings_.steps && !parts_.stop()) {
    ahead_ = written(next, groups_of(next));
    for (SampledGroup& group : ahead_->groups) group.is_earlier = true;
  }
  return weighed(*round, spent);
}

std::vector<SampledGroup> ContrastiveStage::sampled_groups(RolloutSeconds& spent) {
  std::vector<SampledGroup> all, open = first_round(spent);
  for (;;) {
    std::vector<SampledGroup> again;
    for (const SampledGroup& group : open)
      if (group.action == GroupAction::resample) {
        again.push_back({.task = group.task, .number = group.number, .resampled = group.resampled + 1});
      }
    std::ranges::move(open, std::back_inserter(all));
    if (again.empty() || parts_.stop()) return all;
    const std::unique_ptr<Round> round = written(steps_done_, std::move(again));
    begin_judging(*round);
    open = weighed(*round, spent);
  }
}

void ContrastiveStage::settle() {
  if (ahead_ && ahead_->judging.valid()) ahead_->judging.wait();
}

//! A success may be shown from now on, whether its group teaches anything or not.
void ContrastiveStage::remember(const SampledGroup& group) {
  for (std::size_t i = 0; i < group.answers.size(); ++i) {
    const SampleOutcome& outcome = group.answers[i].assessment.outcome;
    if (group.rewards[i].kind != SampleKind::success) continue;
    pools_[group.task].add({outcome.plan_hash, group.answers[i].program, outcome.speedup, group.shown.island});
    add_known_trick(group.task, group.answers[i].assessment.techniques);
  }
}

void ContrastiveStage::learn(const std::vector<SampledGroup>& groups, ContrastiveStep& made) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<WeighedAnswer> weighed;
  for (const SampledGroup& group : groups) {
    if (group.action != GroupAction::train) continue;
    const std::string grammar = parts_.grammar(parts_.tasks[group.task]);
    for (std::size_t i = 0; i < group.answers.size(); ++i)
      if (group.rewards[i].kind != SampleKind::uncounted && !group.answers[i].answer.tokens.empty())
        weighed.push_back(
            {group.prompt, group.answers[i].answer.tokens, group.advantages[i], grammar, group.is_earlier});
  }
  made.has_update = !weighed.empty();
  if (made.has_update)
    made.update =
        parts_.model->improve(weighed, settings_.loss, static_cast<int>(settings_.updates), made.learning_rate);
  made.learning_seconds = seconds_since(begin);
}

void ContrastiveStage::tell(const std::vector<SampledGroup>& groups) const {
  for (const SampledGroup& group : groups) parts_.sampled(steps_done_, group.number, group);
}

std::optional<ContrastiveStep> ContrastiveStage::step() {
  ContrastiveStep made;
  made.step = steps_done_;
  made.learning_rate = cosine_learning_rate({.peak = settings_.learning_rate,
                                             .warm_up_steps = settings_.warm_up_steps,
                                             .steps = settings_.steps,
                                             .last_share = 0.1},
                                            steps_done_);
  auto before = std::pair(pools_, tricks_);
  const auto groups = groups_to_learn_from(made);
  if (!groups || parts_.stop()) std::tie(pools_, tricks_) = std::move(before);
  if (parts_.stop()) return std::nullopt;
  if (groups) {
    if (ahead_) begin_judging(*ahead_);
    tell(*groups);
    learn(*groups, made);
    made.figures = figures_of(*groups);
  }
  finish(made);
  return made;
}

//! Nothing where the weights cannot write any more: that is no program's fault, and the step is left out.
std::optional<std::vector<SampledGroup>> ContrastiveStage::groups_to_learn_from(ContrastiveStep& made) try {
  std::vector<SampledGroup> groups = sampled_groups(made.spent);
  for (SampledGroup& group : groups) group.has_choice = tricks_[group.task].size() > 1;
  return groups;
} catch (const ScoresNotNumbers& problem) {
  ahead_.reset();
  made.update.why_skipped = problem.what();
  return std::nullopt;
}

void ContrastiveStage::finish(ContrastiveStep& made) {
  made.vitals = vitals_of(made);
  vitals_.push_back(made.vitals);
  if (vitals_.size() > most_vitals) vitals_.erase(vitals_.begin());
  ++steps_done_;
}

std::optional<std::string> ContrastiveStage::collapse(const json& state, const CollapseLimits& limits) {
  return collapse_reason(vitals_in(state), limits);
}

json ContrastiveStage::state() const {
  json pools = json::object(), tricks = json::object(), vitals = json::array();
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    pools[parts_.tasks[i].task.hash] = pools_[i].to_json();
    tricks[parts_.tasks[i].task.hash] = tricks_[i];
  }
  for (const StepVitals& each : vitals_) vitals.push_back(to_json(each));
  return {{"steps_done", steps_done_}, {"pools", pools}, {"tricks", tricks}, {"vitals", vitals}};
}

void ContrastiveStage::restore(const json& said) try {
  std::vector<ProgramPool> pools;
  for (const TrainingTask& task : parts_.tasks)
    pools.push_back(ProgramPool::from(said.at("pools").at(task.task.hash), settings_.exemplars));
  std::vector<StepVitals> vitals = vitals_in(said);
  std::vector<std::set<std::string>> tricks = tricks_;
  const json of_tasks = said.value("tricks", json::object());  // those of runs before had none
  for (std::size_t i = 0; i < tricks.size(); ++i)
    tricks[i].merge(of_tasks.value(parts_.tasks[i].task.hash, std::set<std::string>()));
  steps_done_ = said.at("steps_done").get<std::int64_t>();
  pools_ = std::move(pools);
  tricks_ = std::move(tricks);
  vitals_ = std::move(vitals);
} catch (const json::exception& problem) {
  throw Error(fmt::format("the checkpoint is of other tasks, or damaged: {}", problem.what()));
}

}  // namespace cudal1
