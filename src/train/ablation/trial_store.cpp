#include "train/ablation/trial_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr SampleKind kinds[] = {SampleKind::success, SampleKind::copy, SampleKind::idle, SampleKind::failure,
                                SampleKind::uncounted};

SampleKind kind_from(const std::string& name) {
  const auto found = std::ranges::find_if(kinds, [&](SampleKind kind) { return to_string(kind) == name; });
  if (found == std::end(kinds)) throw Error(fmt::format("there is no kind of sample '{}'", name));
  return *found;
}

json line_of(const TrialTask& task) {
  json rounds = json::array();
  for (std::size_t round = 0; round < task.rewards.size(); ++round) {
    rounds.push_back(json::array());
    for (std::size_t i = 0; i < task.rewards[round].size(); ++i) {
      const ShapedReward& reward = task.rewards[round][i];
      rounds.back().push_back({{"kind", to_string(reward.kind)},
                               {"reward", reward.reward},
                               {"low", reward.low},
                               {"high", reward.high},
                               {"speedup", task.speedups[round][i]},
                               {"plan", task.plans[round][i]}});
    }
  }
  return {{"task", task.task->task.hash},
          {"name", task.task->task.name},
          {"best_speedup", task.best_speedup},
          {"rounds", rounds}};
}

TrialTask task_from(const json& line, const TrainingTask& task) {
  if (line.at("task") != task.task.hash) throw Error("it is of another task");
  TrialTask made{.task = &task, .rewards = {}, .plans = {}, .speedups = {}};
  made.best_speedup = line.at("best_speedup").get<double>();
  for (const json& round : line.at("rounds")) {
    made.rewards.emplace_back();
    made.plans.emplace_back();
    made.speedups.emplace_back();
    for (const json& sample : round) {
      made.rewards.back().push_back({kind_from(sample.at("kind")), sample.at("reward").get<double>(),
                                     sample.at("low").get<double>(), sample.at("high").get<double>()});
      made.speedups.back().push_back(sample.at("speedup").get<double>());
      made.plans.back().push_back(sample.at("plan").get<std::string>());
    }
  }
  return made;
}

void check_size(const TrialTask& task, const TrialOptions& options) {
  const auto is_whole = [&](const auto& round) { return std::ssize(round) == options.samples; };
  if (std::ssize(task.rewards) != options.rounds || !std::ranges::all_of(task.rewards, is_whole))
    throw Error(fmt::format("it does not have {} rounds of {} samples", options.rounds, options.samples));
}

}  // namespace

TrialStore::TrialStore(std::filesystem::path file, std::span<const TrainingTask> tasks, const TrialOptions& options)
    : file_(std::move(file)), tasks_(tasks), options_(options) {
  if (std::filesystem::exists(file_)) read();
}

void TrialStore::read() {
  std::istringstream lines(read_file(file_));
  const auto complain = [&](const std::string& what) {
    throw Error(fmt::format("{}:{}: {}; remove the file, and its trial is made again", file_.string(),
                            done_.size() + 1, what));
  };
  for (std::string line; std::getline(lines, line);) {
    try {
      if (done_.size() == tasks_.size()) throw Error("there are no more tasks");
      TrialTask task = task_from(json::parse(line), tasks_[done_.size()]);
      check_size(task, options_);
      done_.push_back(std::move(task));
    } catch (const json::exception&) {
      complain("cannot be read");
    } catch (const Error& problem) {
      complain(problem.what());
    }
  }
}

void TrialStore::write() const {
  std::string text;
  for (const TrialTask& task : done_) text += line_of(task).dump() + "\n";
  write_file_atomically(file_, text);
}

bool TrialStore::complete(LearningModel& model, Assessor& assessor, const MakePrompt& prompt,
                          const std::function<bool()>& stop,
                          const std::function<void(std::size_t done, std::size_t all)>& progress) {
  while (!is_complete()) {
    TrialOptions options = options_;
    options.first = done_.size();
    const std::span<const TrainingTask> some =
        tasks_.subspan(done_.size(), std::min(options.tasks_at_once, tasks_.size() - done_.size()));
    std::vector<TrialTask> tried = policy_trial(model, assessor, some, prompt, options);
    if (stop()) return false;
    std::ranges::move(tried, std::back_inserter(done_));
    write();
    progress(done_.size(), tasks_.size());
  }
  return true;
}

}  // namespace cudal1
