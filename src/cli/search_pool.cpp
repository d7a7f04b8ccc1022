#include "cli/search_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/random.hpp"
#include "base/seconds_since.hpp"
#include "bench/device_memory.hpp"
#include "bench/memory_need.hpp"
#include "bridge/python_nursery.hpp"
#include "cli/bench_device.hpp"
#include "cli/device_choice.hpp"
#include "cli/kept_report.hpp"
#include "cli/progress.hpp"
#include "cli/suite_options.hpp"
#include "device/cuda/driver.hpp"
#include "judge/judge.hpp"
#include "optimize/time_shares.hpp"
#include "suite/task_export.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// PyTorch and its exporter take under one, a search with its compilers and runners under two; the rest is for weights.
constexpr std::uint64_t bytes_per_export = std::uint64_t{3} << 30, bytes_per_search = std::uint64_t{3} << 30;

// Searches wait for each other's turns on a GPU most of the time, and few of them for compilers.
constexpr int compilers_beside_gpu = 3;

// After so many processes that gave up it is the task's doing, and the next one goes on whatever happens.
constexpr std::size_t most_given_up = 3;

//! "level1_19_ReLU": a folder's name for a task.
std::string folder_name(const SuiteTask& task) {
  std::string name;
  const bool from_lines =
      !task.code.empty() && !task.suite.empty();  // one file may hold the same task in several sizes
  for (const unsigned char c : (from_lines ? task.suite + "_" : "") + task.label())
    name += std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' ? static_cast<char>(c) : '_';
  return name;
}

//! Tasks of the same name are told apart by numbers.
std::vector<std::string> folder_names(const std::vector<SuiteTask>& tasks) {
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const SuiteTask& task : tasks) {
    names.push_back(folder_name(task));
    for (int number = 2; !taken.insert(names.back()).second; ++number)
      names.back() = fmt::format("{}_{}", folder_name(task), number);
  }
  return names;
}

//! Where searches judge; nothing of this process stays on it.
struct SearchDevice {
  std::string name;  //!< "cuda" or "vgpu"
  std::uint64_t bytes_to_share = DeviceMemory::unlimited;
  std::uint64_t bytes_for_input_sets = std::uint64_t{512} << 20;  //!< of each search, at most; here the machine's own

  bool is_gpu() const { return name == "cuda"; }
};

//! Throws Error where there is no such device, or it cannot be used.
SearchDevice search_device(const SearchPoolOptions& options) {
  BenchOptions found;
  set_bench_device(found, options.device, options.gpu);
  SearchDevice device{found.device};
  if (device.is_gpu()) {
    device.bytes_to_share = found.device_bytes;
    device.bytes_for_input_sets = static_cast<std::uint64_t>(cuda::device_info(0).memory_bytes) / 16;
  } else {
    VgpuOptions vgpu;
    vgpu.gpu = options.gpu;
    choose_backend("vgpu", vgpu);
  }
  return device;
}

int default_at_once(const SearchDevice& device) {
  return device.is_gpu() ? static_cast<int>(std::clamp(std::thread::hardware_concurrency() * 3 / 4, 1u, 12u)) : 2;
}

//! A task on its way.
struct SearchedTask {
  TaskFolder source;
  fs::path folder;
  std::uint64_t seed = 0;
  std::uint64_t device_bytes = 0;  //!< that its search needs, by an estimate; more after one that was too small
  DeviceMemory::Share share;
  std::string hash;
  std::size_t nodes = 0;           //!< of its graph
  bool is_exported = false, tried_alone = false;
  double seconds = std::numeric_limits<double>::infinity();  //!< that it may take

  //! Only in comparison with others, roughly: compilers have to do with nodes, oracles with tensors.
  double expected_seconds() const {
    constexpr double seconds_a_node = 0.1, seconds_a_gibibyte = 1.0;
    return seconds_a_node * static_cast<double>(nodes) + seconds_a_gibibyte * static_cast<double>(device_bytes >> 30);
  }

  std::optional<Clock::time_point> begin;
  bool is_running = false;
  std::vector<TaskReport> given_up;  //!< by processes that others were to go on after
  std::optional<TaskReport> report;
};

class SearchPool {
 public:
  SearchPool(const std::vector<SuiteTask>& tasks, const SearchPoolOptions& options, const SearchPoolUse& use)
      : tasks_(tasks),
        options_(options),
        use_(use),
        device_(search_device(options)),
        at_once_(std::min(tasks.size(), at_once())),
        memory_(device_.bytes_to_share),
        searched_(tasks.size()),
        board_(tasks.size(), options.programs_each) {
    Random seeds(options.seed);
    const std::vector<std::string> names = folder_names(tasks);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!options.output.empty()) searched_[i].folder = options.output / names[i];
      searched_[i].seed = seeds.next();
    }
  }

  SearchPoolResult run() {
    export_all();
    search_all();
    return {device_.name, reports()};
  }

 private:
  std::size_t at_once() const {
    return static_cast<std::size_t>(options_.at_once > 0 ? options_.at_once : default_at_once(device_));
  }

  void export_all() {
    const auto nursery = nursery_for(tasks_.size(), threads_of_each(options_.jobs));
    std::size_t done = 0;
    run_jobs(tasks_.size(), {options_.jobs, bytes_per_export}, [&](std::size_t i) {
      const JobEnd end = options_.stop() ? JobEnd::done : export_one(i);
      const std::lock_guard lock(mutex_);
      if (end == JobEnd::done) show_progress(++done, tasks_.size(), fmt::format("exporting {}", tasks_[i].label()));
      return end;
    });
  }

  JobEnd export_one(std::size_t i) {
    SearchedTask& task = searched_[i];
    try {
      task.source = task_folder_of(tasks_[i]);
      if (!task.folder.empty()) fs::create_directories(task.folder);
      look_at(task, load_task_with_metas(task.source.folder));
      task.is_exported = true;
    } catch (const std::exception& problem) {
      if (says_short_of_memory(problem.what()) && !std::exchange(task.tried_alone, true))
        return JobEnd::short_of_memory;
      end(i, failed_report(tasks_[i].label(), problem.what()));
    }
    return JobEnd::done;
  }

  void look_at(SearchedTask& searched, const Task& task) const {
    searched.hash = task.hash;
    if (!device_.is_gpu()) return;
    searched.device_bytes = search_bytes(task);
    searched.nodes = task.graph.nodes.size();
  }

  //! Who times has a second runner, with memory of its own, beside the one that is judged; and four of each, who share
  //! theirs, where the best program is measured as figures are.
  std::uint64_t search_bytes(const Task& task) const {
    constexpr std::uint64_t further_runners = 6, bytes_of_runner = std::uint64_t{600} << 20;
    return idle_judge_bytes + 2 * judge_bytes(task) + further_runners * bytes_of_runner +
           std::min(input_sets_bytes(task), device_.bytes_for_input_sets);
  }

  void search_all() {
    begin_ = Clock::now();
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (searched_[i].is_exported) numbers.push_back(i);
    // Who begins with what takes longest does not wait for it alone in the end.
    std::ranges::stable_sort(numbers, std::greater<>(), [&](std::size_t i) { return searched_[i].expected_seconds(); });
    not_begun_ = numbers.size();
    PoolLimits limits{static_cast<int>(at_once_), bytes_per_search};
    limits.may_begin = [&](std::size_t i) { return options_.stop() || takes_its_share(searched_[numbers[i]]); };
    run_jobs(numbers.size(), limits,
             [&](std::size_t i) { return options_.stop() ? JobEnd::done : search(numbers[i]); });
  }

  bool takes_its_share(SearchedTask& task) {
    auto share = memory_.try_take(task.device_bytes);
    if (share) task.share = std::move(*share);
    return share.has_value();
  }

  int compilers_of_each() const {
    const int equal_share = std::max(1, options_.jobs / static_cast<int>(at_once_));
    return device_.is_gpu() ? std::max(equal_share, std::min(options_.jobs, compilers_beside_gpu)) : equal_share;
  }

  //! Of each search.
  int threads() const { return at_once_ > 1 ? threads_of_each(static_cast<int>(at_once_)) : 0; }

  //! Who finds too little memory on a GPU goes on with more of it, as long as it was not alone there.
  JobEnd search(std::size_t i) {
    SearchedTask& task = searched_[i];
    auto request = request_for(i);
    if (!request) return nothing_to_do(i);
    begin(task);
    const KeptReport kept = kept_report(task, *request);
    if (auto report = kept.read()) {
      task.share.give_back();
      end(i, std::move(*report));
      return JobEnd::done;
    }
    request->seconds = task.seconds;
    TaskReport report = search_in_own_process(*request, threads(), events_of(i));
    const std::uint64_t had = task.share.bytes();
    task.share.give_back();
    const bool is_short = device_.is_gpu() && says_short_of_memory(report.error) && !memory_.is_everything(had);
    if (is_short) task.device_bytes = memory_.more_than(had);
    if (is_short || (report.wants_another_process && task.given_up.size() < most_given_up)) {
      task.given_up.push_back(std::move(report));
      return JobEnd::again;
    }
    kept.write(report, request->evaluations);
    end(i, std::move(report));
    return JobEnd::done;
  }

  //! Of searches alone: whoever draws samples has rows of his own.
  KeptReport kept_report(const SearchedTask& task, const SearchRequest& request) {
    std::call_once(key_is_made_, [&] {
      if (request.samples.empty()) key_ = key_of_searches(request, device_.is_gpu() ? cuda::device_info(0).name : request.gpu);
    });
    return {task.folder, key_, task.hash};
  }

  JobEnd nothing_to_do(std::size_t i) {
    const std::lock_guard lock(mutex_);
    searched_[i].share.give_back();
    searched_[i].is_running = false;
    board_.ended(i);
    if (!searched_[i].begin) --not_begun_;
    return JobEnd::done;
  }

  //! One that comes again has the time that it was promised at first.
  void begin(SearchedTask& task) {
    const std::lock_guard lock(mutex_);
    task.is_running = true;
    if (std::exchange(task.begin, Clock::now())) return;
    if (options_.minutes > 0.0) task.seconds = share_of_time(seconds_left(), at_once_, promised(), not_begun_);
    --not_begun_;
  }

  double seconds_left() const {
    if (options_.minutes <= 0.0) return std::numeric_limits<double>::infinity();
    return 60.0 * options_.minutes - seconds_since(begin_);
  }

  //! To those that run, and not had yet.
  double promised() const {
    double seconds = 0.0;
    for (const SearchedTask& task : searched_)
      if (task.is_running && std::isfinite(task.seconds))
        seconds += std::max(0.0, task.seconds - seconds_since(*task.begin));
    return seconds;
  }

  std::optional<SearchRequest> request_for(std::size_t i) {
    const std::lock_guard lock(mutex_);
    const SearchedTask& task = searched_[i];
    SearchRequest request;
    request.name = tasks_[i].label();
    request.task = task.source.folder;
    request.module = task.source.module;
    request.folder = task.folder;
    request.device = device_.name;
    request.gpu = options_.gpu;
    request.policy = options_.policy;
    request.policy_arguments = options_.policy_arguments;
    request.environment = options_.policy_environment;
    request.tasks = static_cast<int>(tasks_.size());
    request.evaluations = options_.programs_each;
    request.seed = task.seed;
    request.jobs = compilers_of_each();
    request.bytes_for_input_sets = device_.bytes_for_input_sets;
    request.beside_others = at_once_ > 1;
    request.ends_with_its_gpu = task.given_up.size() < most_given_up;
    if (!task.given_up.empty()) go_on_after(task.given_up.back(), request);
    return use_.complete(i, request) ? std::optional(std::move(request)) : std::nullopt;
  }

  static void go_on_after(const TaskReport& before, SearchRequest& request) {
    request.judged = before.fields.value("judged", 0);
    request.right = before.fields.value("right", 0);
    request.seconds_before = before.fields.value("seconds", 0.0);
  }

  SearchEvents events_of(std::size_t i) {
    SearchEvents events;
    events.news = [this, i](const SearchNews& news) { show(i, news); };
    events.problem = [this](const std::string& problem) {
      const std::lock_guard lock(mutex_);
      report_problem(problem);
    };
    events.sample = [this, i](const SampleRow& row) {
      const std::lock_guard lock(mutex_);
      use_.sample(i, row);
    };
    events.stop = options_.stop;
    return events;
  }

  void show(std::size_t i, const SearchNews& news) {
    const std::lock_guard lock(mutex_);
    board_.heard(i, news);
    show_progress(static_cast<std::size_t>(board_.judged()), static_cast<std::size_t>(board_.total()),
                  board_.text(i, tasks_[i].label(), seconds_since(begin_), seconds_left()));
  }

  void end(std::size_t i, TaskReport report) {
    const std::lock_guard lock(mutex_);
    use_.ended(i, report);
    searched_[i].report = std::move(report);
    searched_[i].is_running = false;
    board_.ended(i);
  }

  //! Of those that were begun before somebody asked to stop.
  std::vector<std::optional<TaskReport>> reports() {
    std::vector<std::optional<TaskReport>> reports;
    for (SearchedTask& task : searched_) {
      if (!task.report && !task.given_up.empty()) task.report = std::move(task.given_up.back());
      reports.push_back(std::move(task.report));
    }
    return reports;
  }

  const std::vector<SuiteTask>& tasks_;
  const SearchPoolOptions& options_;
  const SearchPoolUse& use_;
  const SearchDevice device_;
  const std::size_t at_once_;
  DeviceMemory memory_;  //!< before those who have shares of it
  Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;  //!< for what follows, and the terminal
  std::vector<SearchedTask> searched_;
  std::size_t not_begun_ = 0;
  std::once_flag key_is_made_;
  std::string key_;  //!< of reports that are kept
  SearchBoard board_;
};

}  // namespace

SearchPoolResult run_search_pool(const std::vector<SuiteTask>& tasks, const SearchPoolOptions& options,
                                 const SearchPoolUse& use) {
  return SearchPool(tasks, options, use).run();
}

}  // namespace cudal1
