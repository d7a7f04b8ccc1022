#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "archive/archive.hpp"
#include "base/line_log.hpp"
#include "cli/stop_on_interrupt.hpp"
#include "parts.hpp"
#include "policy/search/search_policy.hpp"
#include "train/reward_shaping.hpp"
#include "train/stages/turns.hpp"

namespace cudal1::bench {
namespace {

using nlohmann::json;

constexpr std::uint64_t place_of_searches = 2001;  // of randomness
// Proposals that are judged together, as `optimize` compiles ahead: its first ones know nothing of each other either.
constexpr std::size_t at_once = 8;

//! Tasks that a line says something of; one that a kill cut short says nothing.
std::set<std::string> tasks_in(const std::filesystem::path& file) {
  std::set<std::string> tasks;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (const json said = json::parse(line, nullptr, false); said.is_object())
      tasks.insert(said.at("task").get<std::string>());
  return tasks;
}

//! One task's search. Programs on record are not measured again, so one that was ended goes on quickly.
class Search {
 public:
  //! `number`: of the task, for its randomness.
  Search(const BenchSetting& setting, Archive& archive, Assessor& assessor, const TrainingTask& task,
         std::uint64_t number)
      : setting_(setting),
        archive_(archive),
        assessor_(assessor),
        task_(task),
        policy_(task.task.graph, setting.on.gpu,
                Random(seed_of(setting.config.run.seed, {place_of_searches, number}))) {}

  //! False: somebody asked to stop.
  bool run(std::size_t evaluations) {
    while (speedups_.size() < evaluations) {
      const std::vector<std::string> texts = proposals(std::min(at_once, evaluations - speedups_.size()));
      if (texts.empty()) return true;  // the search has nothing more to try
      judge(texts);
      if (StopOnInterrupt::is_requested()) return false;
    }
    return true;
  }

  //! 0: of a program that is no success.
  const std::vector<double>& speedups() const { return speedups_; }

 private:
  std::vector<std::string> proposals(std::size_t count) {
    std::vector<std::string> texts;
    while (texts.size() < count) {
      auto text = policy_.propose(seen_);
      if (!text) break;
      texts.push_back(std::move(*text));
    }
    return texts;
  }

  void judge(const std::vector<std::string>& texts) {
    std::vector<SubmittedProgram> programs;
    for (const std::string& text : texts) programs.push_back({&task_, text});
    const std::vector<Assessment> assessed = assessor_.assess(programs);
    const double least = setting_.config.contrastive.reward.least_replaced_share;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const SampleOutcome& outcome = assessed[i].outcome;
      seen_.push_back(scored(texts[i], outcome));
      const bool counts =
          outcome.status == Status::ok && is_success(outcome, assessor_.empty_plan_hash(task_), least);
      speedups_.push_back(counts ? outcome.speedup : 0.0);
    }
  }

  ScoredProgram scored(const std::string& text, const SampleOutcome& outcome) {
    ScoredProgram made{.text = text};
    made.failure = {outcome.status, ""};
    if (outcome.status != Status::ok) return made;
    made.reward = outcome.speedup;
    if (const auto record = archive_.find({outcome.plan_hash, task_.task.hash, setting_.on.name, "fast"}))
      made.candidate_ms = record->candidate_ms.value_or(0.0);
    return made;
  }

  const BenchSetting& setting_;
  Archive& archive_;
  Assessor& assessor_;
  const TrainingTask& task_;
  SearchPolicy policy_;
  std::vector<ScoredProgram> seen_;
  std::vector<double> speedups_;
};

//! Tasks in turn, each with a judge of its own to the end: a judge that changes its task begins anew.
class Searches {
 public:
  Searches(const BenchSetting& setting, const SearchBenchOptions& options)
      : setting_(setting),
        options_(options),
        tasks_(setting.tasks(TaskSplit::test)),
        archive_(setting.archive),
        done_(tasks_in(options.file)),
        log_(options.file) {}

  //! False: somebody asked to stop.
  bool run() {
    AssessorPoolOptions judging = setting_.judging();
    const int workers = judging.processes;
    judging.setting.beside_others = workers > 1;
    judging.processes = 1;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < workers; ++i) threads.emplace_back([this, judging] { work(judging); });
    }
    if (problem_) std::rethrow_exception(problem_);
    return done_.size() >= tasks_.size() && !StopOnInterrupt::is_requested();
  }

 private:
  void work(const AssessorPoolOptions& judging) {
    try {
      AssessorPool assessor(judging);
      for (std::size_t i = next_++; i < tasks_.size() && !StopOnInterrupt::is_requested(); i = next_++)
        if (!is_done(tasks_[i])) search(i, assessor);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!problem_) problem_ = std::current_exception();
    }
  }

  void search(std::size_t number, Assessor& assessor) {
    const TrainingTask& task = tasks_[number];
    Search search(setting_, archive_, assessor, task, number);
    if (!search.run(static_cast<std::size_t>(options_.evaluations))) return;
    log_.append(json{{"task", task.task.hash}, {"name", task.task.name}, {"speedups", search.speedups()}}.dump());
    const std::lock_guard lock(mutex_);
    done_.insert(task.task.hash);
    tell(fmt::format("search: {} of {} tasks", done_.size(), tasks_.size()));
  }

  bool is_done(const TrainingTask& task) {
    const std::lock_guard lock(mutex_);
    return done_.contains(task.task.hash);
  }

  const BenchSetting& setting_;
  const SearchBenchOptions& options_;
  std::vector<TrainingTask> tasks_;
  Archive archive_;
  std::mutex mutex_;
  std::set<std::string> done_;
  std::exception_ptr problem_;
  LineLog log_;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace

int run_searches(const BenchOptions& common, const SearchBenchOptions& options) {
  const StopOnInterrupt interrupt;
  const BenchSetting setting(common);
  if (options.file.has_parent_path()) std::filesystem::create_directories(options.file.parent_path());
  return Searches(setting, options).run() ? 0 : to_go_on;
}

}  // namespace cudal1::bench
