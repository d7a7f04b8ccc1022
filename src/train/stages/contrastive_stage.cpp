#include "train/stages/contrastive_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/result.hpp"
#include "base/seconds_since.hpp"
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
          {"kl", vitals.kl},
          {"distinct_plans", vitals.distinct_plans},
          {"trick", vitals.trick.trick},
          {"trick_share", vitals.trick.share},
          {"skipped", vitals.skipped}};
}

StepVitals vitals_from(const json& said) {
  return {said.at("entropy").get<double>(),
          said.at("kl").get<double>(),
          said.at("distinct_plans").get<double>(),
          {said.at("trick").get<std::string>(), said.at("trick_share").get<double>()},
          said.at("skipped").get<bool>()};
}

StepVitals vitals_of(const GroupFigures& figures, const PolicyUpdate& update) {
  return {figures.entropy, update.kl, figures.distinct_plans, figures.trick, !update.why_skipped.empty()};
}

}  // namespace

ContrastiveStage::ContrastiveStage(const ContrastiveSettings& settings, std::uint64_t seed, std::int64_t answer_tokens,
                                   Parts parts)
    : settings_(settings),
      seed_(seed),
      answer_tokens_(answer_tokens),
      parts_(std::move(parts)),
      pools_(parts_.tasks.size(), ProgramPool(settings.exemplars)) {
  check(settings.loss);
  check(settings.exemplars);
  if (parts_.tasks.empty()) throw Error("there is no task to learn from");
}

void ContrastiveStage::prepare(SampledGroup& group, std::size_t index) const {
  Random random(seed_of(seed_, {exemplars_of_group, static_cast<std::uint64_t>(steps_done_), index,
                                static_cast<std::uint64_t>(group.resampled)}));
  group.shown = pools_[group.task].draw(random);
  group.prompt = parts_.prompt(parts_.tasks[group.task], group.shown);
}

TaskPrompt ContrastiveStage::asked(const SampledGroup& group, std::size_t index) const {
  const std::uint64_t seed = seed_of(seed_, {answers_of_group, static_cast<std::uint64_t>(steps_done_), index,
                                             static_cast<std::uint64_t>(group.resampled)});
  const TrainingTask& task = parts_.tasks[group.task];
  return {&task, {group.prompt, settings_.samples, seed, answer_tokens_, parts_.grammar(task)}};
}

//! Samples and weighs groups of these numbers.
void ContrastiveStage::sample(std::vector<SampledGroup>& groups, const std::vector<std::size_t>& indices,
                              RolloutSeconds& spent) {
  std::vector<TaskPrompt> prompts;
  for (const std::size_t i : indices) {
    prepare(groups[i], i);
    prompts.push_back(asked(groups[i], i));
  }
  std::vector<std::vector<JudgedAnswer>> answers = judged_answers(*parts_.model, *parts_.assessor, prompts, spent);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    SampledGroup& group = groups[indices[k]];
    group.answers = std::move(answers[k]);
    weigh(group, parts_.assessor->empty_plan_hash(parts_.tasks[group.task]), settings_);
    remember(group);
  }
}

std::vector<SampledGroup> ContrastiveStage::sampled_groups(RolloutSeconds& spent) {
  std::vector<SampledGroup> groups, before;
  const auto width = static_cast<std::size_t>(settings_.prompts);
  for (const std::size_t task :
       turns_of_step(parts_.tasks.size(), width, steps_done_, seed_of(seed_, {order_of_tasks})))
    groups.push_back({.task = task, .number = groups.size()});
  std::vector<std::size_t> open(groups.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  while (!open.empty() && !parts_.stop()) {
    sample(groups, open, spent);
    std::erase_if(open, [&](std::size_t i) { return groups[i].action != GroupAction::resample; });
    for (const std::size_t i : open) {
      before.push_back(groups[i]);
      ++groups[i].resampled;
    }
  }
  before.insert(before.end(), std::make_move_iterator(groups.begin()), std::make_move_iterator(groups.end()));
  std::ranges::sort(before, {}, [](const SampledGroup& group) { return std::pair(group.resampled, group.number); });
  return before;
}

//! A success may be shown from now on, whether its group teaches anything or not.
void ContrastiveStage::remember(const SampledGroup& group) {
  for (std::size_t i = 0; i < group.answers.size(); ++i) {
    const SampleOutcome& outcome = group.answers[i].assessment.outcome;
    if (group.rewards[i].kind == SampleKind::success)
      pools_[group.task].add({outcome.plan_hash, group.answers[i].program, outcome.speedup, group.shown.island});
  }
}

PolicyUpdate ContrastiveStage::learn(const std::vector<SampledGroup>& groups, double learning_rate) {
  std::vector<WeighedAnswer> weighed;
  for (const SampledGroup& group : groups) {
    if (group.action != GroupAction::train) continue;
    const std::string grammar = parts_.grammar(parts_.tasks[group.task]);
    for (std::size_t i = 0; i < group.answers.size(); ++i)
      if (group.rewards[i].kind != SampleKind::uncounted && !group.answers[i].answer.tokens.empty())
        weighed.push_back({group.prompt, group.answers[i].answer.tokens, group.advantages[i], grammar});
  }
  if (weighed.empty()) return {};
  return parts_.model->improve(weighed, settings_.loss, static_cast<int>(settings_.updates), learning_rate);
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
  std::vector<ProgramPool> before = pools_;
  const std::vector<SampledGroup> groups = sampled_groups(made.spent);
  if (parts_.stop()) {
    pools_ = std::move(before);
    return std::nullopt;
  }
  tell(groups);
  const auto begin = std::chrono::steady_clock::now();
  made.update = learn(groups, made.learning_rate);
  made.learning_seconds = seconds_since(begin);
  made.figures = figures_of(groups);
  made.vitals = vitals_of(made.figures, made.update);
  vitals_.push_back(made.vitals);
  if (vitals_.size() > most_vitals) vitals_.erase(vitals_.begin());
  ++steps_done_;
  return made;
}

json ContrastiveStage::state() const {
  json pools = json::object(), vitals = json::array();
  for (std::size_t i = 0; i < pools_.size(); ++i) pools[parts_.tasks[i].task.hash] = pools_[i].to_json();
  for (const StepVitals& each : vitals_) vitals.push_back(to_json(each));
  return {{"steps_done", steps_done_}, {"pools", pools}, {"vitals", vitals}};
}

void ContrastiveStage::restore(const json& said) try {
  std::vector<ProgramPool> pools;
  for (const TrainingTask& task : parts_.tasks)
    pools.push_back(ProgramPool::from(said.at("pools").at(task.task.hash), settings_.exemplars));
  std::vector<StepVitals> vitals;
  for (const json& each : said.at("vitals")) vitals.push_back(vitals_from(each));
  steps_done_ = said.at("steps_done").get<std::int64_t>();
  pools_ = std::move(pools);
  vitals_ = std::move(vitals);
} catch (const json::exception& problem) {
  throw Error(fmt::format("the checkpoint is of other tasks, or damaged: {}", problem.what()));
}

}  // namespace cudal1
