#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "archive/evaluation_record.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/eval_loop.hpp"
#include "cli/gpu_option.hpp"
#include "cli/number_options.hpp"
#include "cli/printable.hpp"
#include "cli/program_text.hpp"
#include "cli/progress.hpp"
#include "cli/task_argument.hpp"
#include "device/cuda/driver.hpp"
#include "device/vgpu/checks/check_options.hpp"
#include "dialect/solution_files.hpp"
#include "dialect/solution_judge.hpp"
#include "judge/compile_queue.hpp"
#include "judge/judge.hpp"
#include "suite/suite.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double longest_seconds = 86400.0;

struct EvalOptions {
  fs::path task;
  std::vector<fs::path> programs;
  std::string device = "auto";
  VgpuOptions vgpu;
  JudgeOptions judge;
  int jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  fs::path archive;
  bool use_archive = true;
  bool as_json = false;
  bool verbose = false, profile_report = false;
};

//! A program that prints and asserts is not the one that would be judged: no time is taken and nothing is kept.
EvalOptions completed(EvalOptions options) {
  if (!options.vgpu.debug) return options;
  options.use_archive = false;
  options.judge.measure_time = false;
  return options;
}

//! Of a folder or a JSONL file, those for this task; a file that was named is judged whatever it is called.
std::vector<SolutionText> read_solution_arguments(const EvalOptions& options) {
  std::vector<SolutionText> chosen;
  const Suite suite = read_suite(options.task);
  const SuiteTask task = suite.tasks.empty() ? SuiteTask{} : suite.tasks.front();
  for (const fs::path& path : options.programs) {
    SolutionFiles files = read_solutions(path);
    for (const std::string& problem : files.problems) report_problem(problem);
    if (path.extension() != ".py") files.solutions = solutions_for(files.solutions, task.level, task.id, task.name);
    if (files.solutions.empty()) throw Error(fmt::format("{}: no solution for {} in it", path.string(), task.label()));
    chosen.insert(chosen.end(), files.solutions.begin(), files.solutions.end());
  }
  return chosen;
}

SolutionDevice choose_solution_device(const std::string& device) {
  if (device == "cpu") return solution_device_on_cpu();
  std::string reason;
  if (device == "vgpu" || cuda::device_count(reason) == 0)
    throw Error(fmt::format("solutions in Python need a GPU{}{}; --device cpu judges those that run without one",
                            reason.empty() ? "" : ": ", reason));
  return solution_device_on(choose_backend("cuda", {}));
}

//! Programs of the torch dialect.
int run_solution_eval(const EvalOptions& options) {
  const std::vector<SolutionText> solutions = read_solution_arguments(options);
  SolutionDevice device = choose_solution_device(options.device);
  const std::string gpu = device.info.name;
  EvalLoop loop;
  std::unique_ptr<Archive> archive;
  if (options.use_archive) archive = open_archive(options.archive, loop.why_no_archive);
  SolutionJudge judge(load_solution_task(options.task), std::move(device), options.judge);
  for (const SolutionText& solution : solutions) loop.programs.push_back(solution.name);
  loop.judge_next = [&, next = std::size_t{0}](double best) mutable {
    const SolutionText& solution = solutions[next++];
    return judge.evaluate(solution.name, solution.text, best);
  };
  if (archive) {
    loop.best_known = [&] { return best_known(*archive, judge.hash(), gpu); };
    loop.record = [&](std::size_t program, const Evaluation& evaluation) {
      archive->record({judge.hash(), judge.name(), judge.source_text()}, solutions[program].text,
                      to_record(evaluation));
    };
  }
  return run_eval_loop(loop, {gpu, options.as_json, options.verbose, false});
}

int run_eval(const EvalOptions& options) {
  const auto solutions = std::ranges::count_if(options.programs, holds_solutions);
  if (solutions > 0) {
    if (static_cast<std::size_t>(solutions) < options.programs.size())
      throw UsageError("programs in CUDA and solutions in Python are judged one kind at a time");
    return run_solution_eval(options);
  }
  if (options.device == "cpu") throw UsageError("--device cpu is for solutions in Python");
  std::vector<ProgramText> texts;
  for (const fs::path& path : options.programs) texts.push_back(read_program(path));
  const auto backend = choose_backend(options.device, options.vgpu);
  const std::string gpu = backend->info().name;
  EvalLoop loop;
  std::unique_ptr<Archive> archive;
  if (options.use_archive) archive = open_archive(options.archive, loop.why_no_archive);
  const Task task = load_task_argument(options.task);
  const auto compile = [&](const std::string& name, const std::string& text) {
    return compile_program(task.graph, *backend, name, text, options.judge.precision);
  };
  JudgeOptions judge_options = options.judge;
  judge_options.profile_steps = options.profile_report;
  judge_options.counting_backend = make_counting_backend;
  for (const fs::path& path : options.programs) loop.programs.push_back(path.filename().string());
  CompileQueue queue(compile, options.jobs);  // begins while the reference is made ready
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (texts[i].failure)
      queue.add({loop.programs[i], texts[i].text, texts[i].failure, {}, {}});
    else
      queue.add(loop.programs[i], texts[i].text);
  TaskJudge judge(*backend, task, judge_options);
  loop.judge_next = [&](double best) { return judge.evaluate(queue.next(), best); };
  if (archive) {
    loop.best_known = [&] { return best_known(*archive, judge.hash(), gpu); };
    loop.record = [&](std::size_t program, const Evaluation& evaluation) {
      archive->record({judge.hash(), judge.name(), judge.source_text()}, texts[program].text, to_record(evaluation));
    };
  }
  return run_eval_loop(loop, {gpu, options.as_json, options.verbose, options.profile_report});
}

//! An option that takes one of a few words.
template <class Enum>
void add_choice(CLI::App& command, const std::string& name, Enum& target, const std::map<std::string, Enum>& choices,
                const std::string& description) {
  command
      .add_option_function<std::string>(
          name,
          [&target, choices, name](const std::string& word) {
            const auto found = choices.find(word);
            if (found == choices.end()) throw CLI::ValidationError(name, "'" + word + "' is not one of its values");
            target = found->second;
          },
          description)
      ->type_name("WORD");
}

//! Empty where these are checks.
std::string why_no_checks(const std::string& names) try {
  vgpu::checks_named(names);
  return {};
} catch (const Error& error) {
  return error.what();
}

}  // namespace

void add_eval_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "Judge programs: correct? how much faster than PyTorch?");
  command->footer("Example: cudal1 eval examples/row_softmax examples/row_softmax/ok-fast.cu");
  command->add_option("task", options->task, task_argument_help)->required();
  command
      ->add_option("programs", options->programs,
                   "Program texts (.cu); or solutions in Python: .py, .jsonl, a folder (docs/dialect.md)")
      ->required();
  command->add_option("--device", options->device, "Where to run; cpu: solutions in Python that need no GPU")
      ->check(CLI::IsMember({"auto", "cuda", "vgpu", "cpu"}));
  add_gpu_option(*command, options->vgpu.gpu);
  command
      ->add_option("--checks", options->vgpu.checks,
                   "What the virtual GPU looks for: all, none, or some of shared-races,global-races,uninitialised")
      ->check(&why_no_checks);
  add_choice(*command, "--mode", options->judge.mode, {{"fast", JudgeMode::fast}, {"result", JudgeMode::result}},
             "fast (intervals of 3%) or result (0.4%, fresh processes); default result");
  add_choice(*command, "--timing", options->judge.protocol,
             {{"standard", TimingProtocol::standard}, {"paper", TimingProtocol::paper}},
             "standard, or paper: the published protocol");
  command->add_option("--window", options->judge.paper_window_seconds, "Seconds of measuring with --timing paper")
      ->check(number_between(0.001, longest_seconds));
  add_choice(*command, "--precision", options->judge.precision,
             {{"standard", Precision::standard},
              {"strict", Precision::strict},
              {"tf32", Precision::tf32},
              {"paper", Precision::paper}},
             "Error budget: standard, strict, tf32 or paper");
  command->add_flag("--deterministic", options->judge.demand_equal_bits, "Demand equal bits from equal inputs");
  command->add_flag("!--verify-only", options->judge.measure_time, "Do not time: is it correct?");
  command
      ->add_option("--time-limit", options->judge.call_limit_seconds,
                   "Seconds a call may take (default: 1000x the reference, at least 1)")
      ->check(number_between(0.001, longest_seconds));
  command->add_option("--seed", options->judge.seed, "For repeating a run; default: secret, from the operating system")
      ->check(whole_number());
  command->add_option("--jobs", options->jobs, "Compilers at once")->check(CLI::Range(1, 64));
  command->add_option("--archive", options->archive, "Where results are kept (SQLite)");
  command->add_flag("!--no-archive", options->use_archive, "Keep no record");
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->add_flag("--profile-report", options->profile_report, "Where the time goes, kernel by kernel");
  command->add_flag("--debug", options->vgpu.debug,
                    "On the virtual GPU: check asserts, allow printf and show what is printed; no times, no record");
  command->add_flag("--verbose", options->verbose, "Compiler logs and accuracy of every output");
  command->callback([options, &action] { action = [options] { return run_eval(completed(*options)); }; });
}

}  // namespace cudal1
