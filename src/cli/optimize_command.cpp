#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/bench_device.hpp"
#include "cli/commands.hpp"
#include "cli/gpu_option.hpp"
#include "cli/number_options.hpp"
#include "cli/optimizer.hpp"
#include "cli/policy_choice.hpp"
#include "cli/policy_options.hpp"
#include "cli/progress.hpp"
#include "cli/stop_on_interrupt.hpp"
#include "cli/suite_options.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct OptimizeOptions {
  std::vector<fs::path> paths;
  SuiteOptions selection;
  OptimizerOptions optimizer;
  PolicyOptions policies;
  bool has_policy = false;  //!< named on the command line
  bool as_json = false;
};

std::vector<SuiteTask> tasks_of(const OptimizeOptions& options) {
  std::vector<SuiteTask> tasks;
  for (const fs::path& path : options.paths) {
    SuiteOptions suite = options.selection;
    suite.path = path;
    for (SuiteTask& task : choose_tasks(suite).tasks) tasks.push_back(std::move(task));
  }
  return tasks;
}

//! Who writes programs, for the processes that search.
void choose_writers(OptimizeOptions& options) {
  SearchPoolOptions& pool = options.optimizer.pool;
  const std::vector<std::string> chosen = options.has_policy
                                              ? choose_adapter(options.policies)
                                              : choose_policy(options.policies, {report_problem, pool.stop});
  pool.policy_arguments.insert(pool.policy_arguments.end(), chosen.begin(), chosen.end());
  pool.policy = options.policies.mix;
  pool.policy_environment = policy_environment(options.policies);
}

json writers_json(const PolicyOptions& policies) {
  const bool uses_adapter = policies.has_adapter() && asks_local_model(policy_shares(policies));
  return {{"policy", policies.mix}, {"adapter", uses_adapter ? json(policies.adapter) : json(nullptr)}};
}

void check_output(const fs::path& output) {
  std::error_code unknown;
  if (fs::exists(output, unknown) && !fs::is_directory(output, unknown))
    throw UsageError(fmt::format("--output {}: that is a file; a folder is needed", output.string()));
}

int run_optimize(OptimizeOptions options) {
  choose_seed(options.optimizer.pool.seed);
  const StopOnInterrupt stop;
  options.optimizer.pool.stop = StopOnInterrupt::is_requested;
  choose_writers(options);
  const std::vector<TaskReport> reports = optimize(tasks_of(options), options.optimizer);
  clear_progress();
  if (options.as_json) {
    json results = json::array();
    for (const TaskReport& report : reports) results.push_back(to_json(report));
    json all = writers_json(options.policies);
    all["seed"] = options.optimizer.pool.seed;
    all["results"] = results;
    fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    for (const TaskReport& report : reports) print(report);
    fmt::print("seed {}\n", options.optimizer.pool.seed);
  }
  const auto has_result = [](const TaskReport& report) { return report.error.empty(); };
  return std::ranges::any_of(reports, has_result) ? 0 : 1;
}

}  // namespace

void add_optimize_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<OptimizeOptions>();
  OptimizerOptions& optimizer = options->optimizer;
  SearchPoolOptions& pool = optimizer.pool;
  pool.output = "optimized";
  pool.jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
  CLI::App* command = app.add_subcommand("optimize", "Find a verified, faster implementation of a PyTorch module");
  command->footer(
      "Example: cudal1 optimize my_model.py --budget-evals 20 -o fast\n"
      "Ctrl-C ends the search and keeps what was found. The same command goes on where it was ended; what is on "
      "record\n"
      "is not judged again. A larger budget goes further.");
  command->add_option("tasks", options->paths, "PyTorch modules (.py), task folders, or suites of them")->required();
  add_selection_options(*command, options->selection);
  add_policy_options(*command, options->policies);
  command->add_option("--budget-evals", pool.programs_each, "Programs to judge for each task (default: 20)")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--budget-minutes", pool.minutes, "Minutes for all searches together; default: no limit")
      ->check(number_between(0.001, 100000.0));
  command->add_option("-o,--output", pool.output, "Folder for the best programs and their packages (optimized)");
  command->add_option("--device", pool.device, "Where to judge")->check(CLI::IsMember({"auto", "cuda", "vgpu"}));
  add_gpu_option(*command, pool.gpu);
  command->add_option("--archive", optimizer.archive, "Where results are kept (SQLite)");
  command->add_option("--seed", pool.seed, "For repeating a search; default: from the operating system")
      ->check(whole_number());
  command->add_option("--jobs", pool.jobs, "Compilers at once")->check(CLI::Range(1, 64));
  command
      ->add_option("--at-once", pool.at_once,
                   "Tasks that are searched at once (default: three for every four cores on a GPU, at most 12; else 2)")
      ->check(CLI::Range(1, 64));
  command->add_flag("!--no-baselines", optimizer.beside, "Do not measure PyTorch's own ways beside the result");
  command->add_flag("!--no-explain", optimizer.explain, "Do not measure what each directive contributes");
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->callback([options, command, &action] {
    options->has_policy = command->count("--policy") > 0;
    options->optimizer.pool.policy_arguments = policy_arguments(*command);
    policy_shares(options->policies);  // what cannot be meant is wrong usage
    check_output(options->optimizer.pool.output);
    action = [options] { return run_optimize(*options); };
  });
}

}  // namespace cudal1
