#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/random.hpp"
#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "bench/device_memory.hpp"
#include "bench/memory_need.hpp"
#include "bridge/python_nursery.hpp"
#include "cli/commands.hpp"
#include "cli/number_options.hpp"
#include "cli/printable.hpp"
#include "cli/progress.hpp"
#include "cli/suite_options.hpp"
#include "device/cuda/driver.hpp"
#include "judge/judge.hpp"
#include "parity/parity_process.hpp"
#include "suite/task_export.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Both sides hold PyTorch, inputs and outputs; the oracle has them in twice the width.
constexpr std::uint64_t bytes_per_comparison = std::uint64_t{6} << 30;
constexpr unsigned most_jobs_on_gpu = 16;

struct CheckOptions {
  SuiteOptions suite;
  std::string device = "auto";
  int jobs = 0;
  std::uint64_t seed = 1;
  bool as_json = false;
};

std::string chosen_device(const std::string& wanted) {
  if (wanted == "cpu") return wanted;
  std::string reason;
  if (cuda::device_count(reason) > 0) return "cuda";
  if (wanted == "cuda") throw Error(fmt::format("no GPU to run on: {} (./cudal1 doctor says more)", reason));
  return "cpu";
}

fs::path module_to_compare_with(const TaskFolder& task) {
  const fs::path module = module_of(task);
  if (module.empty())
    throw Error(fmt::format("{}: a native task: there is no module to compare it with", task.folder.string()));
  return fs::absolute(module);
}

//! A task, and what has come of it so far.
struct CheckedTask {
  TaskFolder made;
  ParityReport report;
  std::uint64_t device_bytes = 0;  // that a comparison needs, by an estimate; more after each that was too small
  DeviceMemory::Share share;
  bool is_exported = false, tried_alone = false;
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return seconds_since(begin);
}

std::string outcome(const ParityReport& report) {
  if (!report.ok()) return one_line(report.error);
  const std::string equal =
      report.equal_bits ? "equal bits" : fmt::format("{:.2g} of the budget", report.budget_share.value_or(0.0));
  return equal + (report.degenerate ? ", degenerate" : "");
}

void print_row(const SuiteTask& task, const ParityReport& report) {
  fmt::print("{:<4}  {:>5}  {:>6.1f} s  {}  {}\n", report.ok() ? "ok" : "FAIL", report.nodes, report.seconds,
             printable(task.label()), outcome(report));
  std::fflush(stdout);
}

//! As many at once as the machine and the GPU have memory for.
class Check {
 public:
  Check(const std::vector<SuiteTask>& tasks, const CheckOptions& options)
      : tasks_(tasks),
        options_(options),
        threads_(threads_of_each(options.jobs)),
        memory_(options.device == "cuda" ? device_bytes_to_share(0) : DeviceMemory::unlimited),
        checked_(tasks.size()) {}

  std::vector<ParityReport> run() {
    run_jobs(tasks_.size(), {options_.jobs, bytes_per_comparison}, [&](std::size_t i) { return export_one(i); });
    PoolLimits limits{options_.jobs, bytes_per_comparison};
    limits.may_begin = [&](std::size_t i) { return takes_its_share(checked_[i]); };
    run_jobs(tasks_.size(), limits, [&](std::size_t i) { return compare_one(i); });
    clear_progress();
    std::vector<ParityReport> reports;
    for (CheckedTask& checked : checked_) reports.push_back(std::move(checked.report));
    return reports;
  }

 private:
  JobEnd export_one(std::size_t i) {
    CheckedTask& checked = checked_[i];
    checked.report.error.clear();
    checked.report.seconds = seconds_of([&] {
      try {
        checked.made = task_folder_of(tasks_[i]);
        checked.made.module = module_to_compare_with(checked.made);
        checked.is_exported = true;
        estimate_memory(checked);
      } catch (const std::exception& problem) {
        checked.report.error = problem.what();
      }
    });
    const bool again = says_short_of_memory(checked.report.error) && !std::exchange(checked.tried_alone, true);
    return again ? JobEnd::short_of_memory : JobEnd::done;
  }

  //! A task that cannot be read is the comparison's business.
  void estimate_memory(CheckedTask& checked) const {
    if (options_.device != "cuda") return;
    try {
      checked.device_bytes = comparison_bytes(load_task_with_metas(checked.made.folder));
    } catch (const Error&) {
    }
  }

  bool takes_its_share(CheckedTask& checked) {
    auto share = memory_.try_take(checked.device_bytes);
    if (share) checked.share = std::move(*share);
    return share.has_value();
  }

  JobEnd compare_one(std::size_t i) {
    CheckedTask& checked = checked_[i];
    if (checked.is_exported) compare(checked);
    const std::uint64_t had = checked.share.bytes();
    checked.share.give_back();
    if (checked.is_exported && says_short_of_memory(checked.report.error) && !memory_.is_everything(had)) {
      checked.device_bytes = memory_.more_than(had);
      return JobEnd::again;
    }
    show(i);
    return JobEnd::done;
  }

  void compare(CheckedTask& checked) const {
    const double before = checked.report.seconds;
    const double seconds = seconds_of([&] {
      checked.report =
          run_parity_process({checked.made.folder, checked.made.module, options_.device, options_.seed, threads_});
    });
    checked.report.seconds = before + seconds;
  }

  void show(std::size_t i) {
    const std::lock_guard lock(mutex_);
    clear_progress();
    if (!options_.as_json) print_row(tasks_[i], checked_[i].report);
    show_progress(++done_, tasks_.size(), tasks_[i].label());
  }

  const std::vector<SuiteTask>& tasks_;
  const CheckOptions& options_;
  const int threads_;  // of each comparison
  DeviceMemory memory_;
  std::vector<CheckedTask> checked_;
  std::mutex mutex_;
  std::size_t done_ = 0;
};

//! On a GPU a comparison is mostly one thread that waits for it.
int jobs_on(const std::string& device) {
  if (device == "cuda") return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, most_jobs_on_gpu));
  return std::max(1, default_jobs() / 2);
}

json row_json(const SuiteTask& task, const ParityReport& report) {
  json row = identity_json(task);
  row.update(to_json(report));
  if (!report.ok()) row["error"] = one_line(report.error);
  return row;
}

int run_check(CheckOptions options) {
  const ChosenTasks chosen = choose_tasks(options.suite);
  options.device = chosen_device(options.device);
  if (options.jobs == 0) options.jobs = jobs_on(options.device);
  const auto nursery = nursery_for(2 * chosen.tasks.size(), threads_of_each(options.jobs));
  const std::vector<ParityReport> reports = Check(chosen.tasks, options).run();
  const auto good = std::ranges::count_if(reports, &ParityReport::ok);
  if (options.as_json) {
    json rows = json::array();
    for (std::size_t i = 0; i < reports.size(); ++i) rows.push_back(row_json(chosen.tasks[i], reports[i]));
    const json all{{"device", options.device}, {"seed", options.seed}, {"ok", good},
                   {"of", reports.size()},     {"tasks", rows},        {"problems", chosen.problems}};
    fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    fmt::print("{} of {} tasks agree with eager PyTorch on {} (seed {})\n", good, reports.size(), options.device,
               options.seed);
  }
  return good > 0 ? 0 : 1;
}

}  // namespace

void add_check_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Do tasks compute what their PyTorch modules compute?");
  command->footer("Example: cudal1 check my_module.py\n         cudal1 check KernelBench --level 1 --device cpu");
  add_suite_options(*command, options->suite);
  command->add_option("--device", options->device, "Where both run")->check(CLI::IsMember({"auto", "cuda", "cpu"}));
  command->add_option("--jobs", options->jobs, "Tasks at once; fewer where memory is short")->check(CLI::Range(1, 256));
  command->add_option("--seed", options->seed, "Of the inputs (default: 1)")->check(whole_number());
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->callback([options, &action] { action = [options] { return run_check(*options); }; });
}

}  // namespace cudal1
