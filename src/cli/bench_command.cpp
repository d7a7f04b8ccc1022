#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files.hpp"
#include "base/result.hpp"
#include "bench/bench_run.hpp"
#include "bench/results_log.hpp"
#include "bridge/python_nursery.hpp"
#include "cli/bench_device.hpp"
#include "cli/commands.hpp"
#include "cli/gpu_option.hpp"
#include "cli/number_options.hpp"
#include "cli/policy_bench.hpp"
#include "cli/policy_choice.hpp"
#include "cli/printable.hpp"
#include "cli/progress.hpp"
#include "cli/stage_log.hpp"
#include "cli/suite_options.hpp"
#include "report/bench_report.hpp"
#include "report/figures_table.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const std::vector<std::string> all_baselines{"eager",      "compile",         "compile-reduce-overhead",
                                             "cuda-graph", "cudnn-benchmark", "channels-last"};

struct BenchCommand {
  SuiteOptions suite;
  BenchOptions bench;
  std::string device = "auto", gpu = "h200", programs;
  fs::path archive, output;
  std::vector<fs::path> merged;
  std::vector<std::string> baselines;
  bool as_json = false;
  PolicyOptions policies;
  bool has_policy = false;
  std::vector<std::string> policy_arguments;
};

void choose_baselines(BenchCommand& command) {
  if (command.baselines.empty()) return;
  const bool all = std::ranges::find(command.baselines, "all") != command.baselines.end();
  command.bench.baselines = all ? all_baselines : command.baselines;
  if (std::ranges::find(command.bench.baselines, "eager") == command.bench.baselines.end())
    command.bench.baselines.insert(command.bench.baselines.begin(), "eager");  // whoever fails here cannot be measured
}

void choose_programs(BenchCommand& command) {
  std::error_code none;
  if (command.programs == "archive")
    command.bench.programs = ProgramSource::best_on_record(command.archive.empty() ? data_directory() / "archive.sqlite"
                                                                                   : fs::absolute(command.archive));
  else if (!command.programs.empty() && fs::is_regular_file(command.programs, none)) {
    std::vector<std::string> problems;
    command.bench.programs = ProgramSource::lines(command.programs, problems);
    for (const std::string& problem : problems) report_problem(problem);
  } else if (!command.programs.empty())
    command.bench.programs = ProgramSource::folder(fs::absolute(command.programs));
}

void print(const std::vector<BenchRow>& rows, const BenchCommand& command, const std::vector<std::string>& problems) {
  if (command.as_json) {
    json tasks = json::array();
    for (const BenchRow& row : rows) tasks.push_back(to_json(row));
    const json all{{"tasks", tasks}, {"figures", summary_json(rows)}, {"problems", problems}};
    fmt::print("{}\n", all.dump(1, ' ', false, json::error_handler_t::replace));
    return;
  }
  fmt::print("{}\n{}\n{}", printable_lines(task_table(rows).plain()), figures_table(rows).plain(),
             fast_p_table(rows).plain());
  for (const std::string& remark : remarks(rows)) fmt::print("{}\n", one_line(remark));
}

//! "level 1 to 3 of dev.jsonl on NVIDIA H200"
std::string title_of(const BenchCommand& command, const std::vector<BenchRow>& rows) {
  const auto judged = std::ranges::find_if(rows, &BenchRow::came_to_a_device);
  const std::string device = judged == rows.end() ? command.bench.gpu : judged->device;
  const bool predicted = std::ranges::any_of(rows, &BenchRow::predicted);
  return fmt::format("{} tasks{} on {}{}", rows.size(),
                     command.suite.path.empty() ? "" : fmt::format(" of {}", command.suite.path.filename().string()),
                     device, predicted ? " (predicted)" : "");
}

//! Whatever the verdict is; that nobody could give one is none.
bool came_to_a_result(const BenchRow& row) {
  return row.status == to_string(Status::unstable) || (is_final(row) && row.status != to_string(Status::unsupported));
}

int report(std::vector<BenchRow> rows, const BenchCommand& command, const std::vector<std::string>& problems) {
  sort_rows(rows);
  if (!command.output.empty()) write_bench_report(rows, title_of(command, rows), command.output);
  print(rows, command, problems);
  if (!command.output.empty() && !command.as_json) fmt::print("report: {}\n", (command.output / "report.md").string());
  return std::ranges::any_of(rows, came_to_a_result) ? 0 : 1;
}

void make_output_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) throw Error(fmt::format("{}: {}", folder.string(), problem.message()));
}

PolicyBenchOptions policy_bench_options(const BenchCommand& command) {
  PolicyBenchOptions made;
  made.policies = command.policies;
  made.archive = command.archive;
  made.output = command.output;
  made.suite = command.suite.path;
  made.as_json = command.as_json;
  made.pool.policy = command.has_policy ? command.policies.mix : "";
  made.pool.device = command.device;
  made.pool.gpu = command.gpu;
  made.pool.seed = command.bench.seed;
  made.pool.jobs = command.bench.jobs;
  made.pool.policy_arguments = command.policy_arguments;
  return made;
}

int run_policies(const BenchCommand& command) {
  if (command.suite.path.empty()) throw UsageError("which suite? (see --help)");
  if (!command.programs.empty() || !command.baselines.empty())
    throw UsageError(
        "--policy writes the programs and compares them with the reference: no --programs, no --baselines");
  if (command.device == "cpu") throw UsageError("--policy needs --device cuda or vgpu");
  PolicyBenchOptions options = policy_bench_options(command);
  const std::vector<std::string> chosen = choose_adapter(options.policies);
  options.pool.policy_arguments.insert(options.pool.policy_arguments.end(), chosen.begin(), chosen.end());
  options.pool.policy_environment = policy_environment(command.policies);
  return run_policy_bench(choose_tasks(command.suite), std::move(options));
}

int merge_samples(const BenchCommand& command) {
  std::vector<fs::path> files;
  for (const fs::path& folder : command.merged) files.push_back(folder / samples_file);
  const std::vector<SampleRow> rows = read_samples(files);
  make_output_folder(command.output);
  std::string text;
  for (const SampleRow& row : rows) text += to_json(row).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  write_file_atomically(command.output / samples_file, text);
  return report_samples(rows, policy_bench_options(command), {});
}

int run_merge(const BenchCommand& command) {
  if (!command.suite.path.empty() || chooses_among_tasks(command.suite))
    throw UsageError("--merge measures nothing: no suite and no choice of its tasks goes with it");
  if (command.output.empty()) throw UsageError("--merge needs -o, the folder for the merged report");
  const auto has_samples = [](const fs::path& folder) { return fs::exists(folder / samples_file); };
  if (std::ranges::all_of(command.merged, has_samples)) return merge_samples(command);
  std::vector<fs::path> files;
  for (const fs::path& folder : command.merged) files.push_back(folder / "results.jsonl");
  const std::vector<BenchRow> rows = merged_results(files);
  make_output_folder(command.output);
  std::string text;
  for (const BenchRow& row : rows) text += to_json(row).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  write_file_atomically(command.output / "results.jsonl", text);
  return report(rows, command, {});
}

//! A row that cannot be kept is still reported in the end. The first reason is said; then no more is kept.
void keep(std::optional<ResultsLog>& log, const BenchRow& row) {
  try {
    if (log) log->append(row);
  } catch (const Error& problem) {
    report_problem(fmt::format("{} (measuring goes on; results are not kept)", problem.what()));
    log.reset();
  }
}

int run_measurement(BenchCommand command) {
  if (command.suite.path.empty()) throw UsageError("which suite? (or --merge DIR…; see --help)");
  if (!command.output.empty() && fs::exists(command.output / samples_file))
    throw UsageError(
        fmt::format("{} holds samples of policies: what a bench of programs finds goes into another folder",
                    command.output.string()));
  choose_baselines(command);
  choose_programs(command);
  ChosenTasks chosen = choose_tasks(command.suite);
  set_bench_device(command.bench, command.device, command.gpu);
  std::vector<std::string> ambiguous;
  command.bench.programs.drop_ambiguous_lines(chosen.tasks, ambiguous);
  for (const std::string& problem : ambiguous) report_problem(problem);
  chosen.problems.insert(chosen.problems.end(), ambiguous.begin(), ambiguous.end());
  choose_seed(command.bench.seed);
  std::vector<BenchRow> known;
  std::optional<ResultsLog> log;
  if (!command.output.empty()) {
    make_output_folder(command.output);
    known = read_results(command.output / "results.jsonl");
    log.emplace(command.output / "results.jsonl");
  }
  BenchEvents events;
  events.row = [&](const BenchRow& row) {
    keep(log, row);
    if (!row.error.empty()) report_problem(fmt::format("{}: {}: {}", row.label(), row.status, row.error));
  };
  if (!command.output.empty()) events.took = stage_log(command.output / "log.txt");
  events.progress = [](const std::string& phase, std::size_t done, std::size_t of, const std::string& task) {
    show_progress(done, of, fmt::format("{} {}", phase, task));
  };
  // Of modules that run on the processor, times depend on the threads: as many as PyTorch takes by itself.
  const bool on_processor = command.bench.device == "cpu";
  const auto nursery = nursery_for(2 * chosen.tasks.size(), on_processor ? 0 : threads_of_each(command.bench.jobs));
  const std::vector<BenchRow> rows = run_bench(chosen.tasks, command.bench, known, events);
  clear_progress();
  return report(rows, command, chosen.problems);
}

//! As they were said, and what a bench takes for what was not: a sample is one answer.
void read_policies(BenchCommand& options, const CLI::App& command) {
  options.has_policy = command.count("--policy") > 0;
  options.policy_arguments = policy_arguments(command);
  if (!options.has_policy && !options.policy_arguments.empty())
    throw UsageError(fmt::format("{} needs --policy: who writes the programs?", options.policy_arguments.front()));
  if (options.has_policy && command.count("--repair") == 0) options.policy_arguments.push_back("--repair=0");
}

int run(const BenchCommand& options) {
  if (!options.merged.empty()) return run_merge(options);
  return options.has_policy ? run_policies(options) : run_measurement(options);
}

void add_policies(CLI::App& command, PolicyOptions& options) {
  add_policy_options(command, options);
  command.get_option("--policy")
      ->description("Measure who writes programs: search, local, remote, or shares of them such as local:6,search:2");
  command.get_option("--samples")->description("Programs that each task is asked for, with --policy (4)");
  command.get_option("--repair")->description("How often a program that failed goes back with its error (0)");
}

}  // namespace

void add_bench_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<BenchCommand>();
  options->bench.jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
  CLI::App* command =
      app.add_subcommand("bench", "Measure programs for a suite beside what PyTorch itself can do, or who writes them");
  command->footer(
      "Example: cudal1 bench KernelBench --level 1 -o results\n"
      "         cudal1 bench suite.jsonl --programs my_programs --split 1/2 -o first\n"
      "         cudal1 bench --merge first second -o whole\n"
      "         cudal1 bench examples --policy local --samples 8 -o samples");
  add_suite_options(*command, options->suite);
  command->get_option("path")->required(false);
  command->add_option(
      "--programs", options->programs,
      "A folder with NAME.cu or NAME.py, JSONL lines with \"custom_code\", or 'archive': the best on record; "
      "default: library ops only");
  command
      ->add_option("--baselines", options->baselines,
                   "What to compare with: eager,compile,compile-reduce-overhead,cuda-graph (default), "
                   "cudnn-benchmark, channels-last, or all")
      ->delimiter(',')
      ->check(CLI::IsMember([] {
        std::vector<std::string> names = all_baselines;
        names.push_back("all");
        return names;
      }()));
  command->add_option("--device", options->device, "Where to measure; vgpu predicts, cpu is for trying things out")
      ->check(CLI::IsMember({"auto", "cuda", "vgpu", "cpu"}));
  add_gpu_option(*command, options->gpu);
  command->add_option("-o,--output", options->output, "A folder for results; what is there already is not repeated");
  command->add_option("--merge", options->merged, "Measure nothing: one report of the results in these folders");
  command->add_option("--jobs", options->bench.jobs, "Processes at once, while nothing is measured")
      ->check(CLI::Range(1, 256));
  command->add_option("--seconds", options->bench.timing.seconds, "Of measuring, at most, for each task (default: 1)")
      ->check(number_between(0.01, 86400.0));
  command->add_flag("!--no-verify", options->bench.verify, "Do not judge programs before they are measured");
  command->add_option("--archive", options->archive, "Another archive file");
  command->add_option("--seed", options->bench.seed, "Of inputs and order; default: from the operating system")
      ->check(whole_number());
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  add_policies(*command, options->policies);
  command->callback([options, command, &action] {
    read_policies(*options, *command);
    action = [options] { return run(*options); };
  });
}

}  // namespace cudal1
