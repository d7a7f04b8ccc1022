#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/random.hpp"
#include "base/result.hpp"
#include "cli/commands.hpp"
#include "cli/number_options.hpp"
#include "cli/printable.hpp"
#include "cli/progress.hpp"
#include "cli/suite_options.hpp"
#include "device/cuda/driver.hpp"
#include "parity/parity_process.hpp"
#include "suite/task_export.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Both sides hold PyTorch, inputs and outputs; the oracle has them in twice the width.
constexpr std::uint64_t bytes_per_comparison = std::uint64_t{6} << 30;
constexpr int comparisons_on_one_gpu = 4;

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

//! What the module is where a task folder was given: the bridge leaves its source there.
fs::path module_of(const TaskFolder& task) {
  if (!task.module.empty()) return task.module;
  std::error_code problem;
  if (fs::exists(task.folder / "source.py", problem)) return task.folder / "source.py";
  throw Error(fmt::format("{}: a native task: there is no module to compare it with", task.folder.string()));
}

ParityReport check_one(const SuiteTask& task, const CheckOptions& options, int threads) {
  const auto begin = std::chrono::steady_clock::now();
  ParityReport report;
  try {
    const TaskFolder made = task_folder_of(task);
    report = run_parity_process({made.folder, fs::absolute(module_of(made)), options.device, options.seed, threads});
  } catch (const std::exception& problem) {
    report.error = problem.what();
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
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

std::vector<ParityReport> check_all(const std::vector<SuiteTask>& tasks, const CheckOptions& options) {
  std::vector<ParityReport> reports(tasks.size());
  std::mutex mutex;
  std::size_t done = 0;
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / options.jobs);
  run_jobs(tasks.size(), {options.jobs, bytes_per_comparison}, [&](std::size_t i) {
    const bool again = !reports[i].ok();
    reports[i] = check_one(tasks[i], options, threads);
    if (!again && says_short_of_memory(reports[i].error)) return JobEnd::short_of_memory;
    const std::lock_guard lock(mutex);
    clear_progress();
    if (!options.as_json) print_row(tasks[i], reports[i]);
    show_progress(++done, tasks.size(), tasks[i].label());
    return JobEnd::done;
  });
  clear_progress();
  return reports;
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
  if (options.jobs == 0)
    options.jobs = options.device == "cuda" ? comparisons_on_one_gpu : std::max(1, default_jobs() / 2);
  const std::vector<ParityReport> reports = check_all(chosen.tasks, options);
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
