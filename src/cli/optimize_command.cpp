#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/random.hpp"
#include "cli/commands.hpp"
#include "cli/compile_queue.hpp"
#include "cli/device_choice.hpp"
#include "cli/effects_table.hpp"
#include "cli/evaluation_record.hpp"
#include "cli/number_options.hpp"
#include "cli/package_export.hpp"
#include "cli/printable.hpp"
#include "cli/progress.hpp"
#include "cli/suite_options.hpp"
#include "judge/judge.hpp"
#include "optimize/optimize_run.hpp"
#include "optimize/part_effects.hpp"
#include "suite/task_export.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct OptimizeOptions {
  std::vector<fs::path> paths;
  SuiteOptions selection;
  std::string device = "auto";
  std::string policy = "search";
  int evaluations = 20;
  double minutes = 0.0;  //!< 0: as long as it takes
  fs::path output, archive;
  std::uint64_t seed = 0;
  int jobs = default_jobs();
  bool as_json = false;
};

std::atomic<bool> stop_requested = false;

//! The first Ctrl-C ends the search and reports; a second one ends the command.
class StopOnInterrupt {
 public:
  StopOnInterrupt() {
    std::signal(SIGINT, [](int) {
      if (stop_requested.exchange(true)) std::_Exit(130);
    });
  }
  ~StopOnInterrupt() { std::signal(SIGINT, SIG_DFL); }
};

//! One task, found, judged and written down.
struct TaskOutcome {
  std::string name, error;
  OptimizeResult result;
  std::optional<JudgedProgram> best;  //!< as it was confirmed
  std::vector<PartEffect> effects;
  fs::path program, package;
  std::string why_no_package;
};

//! Programs on record for this task and GPU, as parents of new ones.
std::vector<ScoredProgram> programs_on_record(Archive& archive, const std::string& task_hash, const std::string& gpu) {
  std::vector<ScoredProgram> programs;
  for (const EvaluationRecord& record : archive.evaluations(task_hash)) {
    if (record.gpu != gpu) continue;
    if (auto text = archive.program_text(record.program_hash))
      programs.push_back({std::move(*text), record.status == "ok" ? record.reward.value_or(0.0) : 0.0});
  }
  return programs;
}

class TaskOptimizer {
 public:
  TaskOptimizer(const OptimizeOptions& options, Backend& backend, Archive* archive, const TaskFolder& folder,
                std::uint64_t seed)
      : options_(options),
        backend_(backend),
        archive_(archive),
        folder_(folder),
        task_(load_task_with_metas(folder.folder)),
        policy_(task_.graph, Random(seed)),
        judge_(backend, task_, search_options()) {
    outcome_.name = task_.name;
  }

  TaskOutcome run(double seconds) {
    search(seconds);
    if (outcome_.best && !stop_requested) confirm();
    if (outcome_.best && !stop_requested) explain();
    if (outcome_.best) write_down();
    return std::move(outcome_);
  }

 private:
  static JudgeOptions search_options() {
    JudgeOptions options;
    options.mode = JudgeMode::fast;
    return options;
  }

  void search(double seconds) {
    CompileQueue queue([this](const std::string& name, const std::string& text) { return judge_.compile(name, text); },
                       options_.jobs);
    OptimizeParts parts;
    parts.propose = [this](const std::vector<ScoredProgram>& seen) { return policy_.propose(seen); };
    parts.start = [&, number = 0](const std::string& text) mutable {
      queue.add(fmt::format("search-{}.cu", ++number), text);
    };
    parts.finish = [&](double best) { return judge_.evaluate(queue.next(), best); };
    parts.record = [this](const JudgedProgram& finding) { record(finding); };
    parts.progress = [this, seconds](const OptimizeProgress& progress) { show(progress, seconds); };
    parts.stop = [] { return stop_requested.load(); };
    outcome_.result = optimize(parts, {options_.evaluations, seconds}, known());
    outcome_.best = outcome_.result.best;
    if (!outcome_.best) take_from_record();
  }

  std::vector<ScoredProgram> known() const {
    return archive_ ? programs_on_record(*archive_, judge_.hash(), backend_.info().name) : std::vector<ScoredProgram>();
  }

  //! Nothing better was found this time.
  void take_from_record() {
    if (!archive_) return;
    const auto best = archive_->best(judge_.hash(), backend_.info().name, 1);
    if (best.empty() || best.front().program_text.empty()) return;
    outcome_.best = JudgedProgram{best.front().program_text,
                                  judge_.evaluate(judge_.compile("best on record", best.front().program_text))};
  }

  void record(const JudgedProgram& finding) {
    if (!archive_) return;
    try {
      archive_->record({judge_.hash(), judge_.name(), judge_.source_text()}, finding.text,
                       to_record(finding.evaluation));
    } catch (const Error& problem) {
      report_problem(fmt::format("{} (the search goes on; nothing more is recorded)", problem.what()));
      archive_ = nullptr;
    }
  }

  void show(const OptimizeProgress& progress, double seconds) const {
    const double a_program = progress.seconds / progress.judged;
    const double left = std::min(seconds - progress.seconds, a_program * (progress.of - progress.judged));
    show_progress(static_cast<std::size_t>(progress.judged), static_cast<std::size_t>(progress.of),
                  fmt::format("{}: best {:.2f}x, {:.0f} s left", task_.name, progress.best, std::max(0.0, left)));
  }

  //! What was found in fast mode is measured as figures are: fresh processes, narrow intervals. Predictions stay.
  void confirm() {
    if (backend_.predicted()) return;
    JudgeOptions careful;
    careful.mode = JudgeMode::result;
    TaskJudge judge(backend_, task_, careful);
    Evaluation again = judge.evaluate(judge.compile("best.cu", outcome_.best->text));
    outcome_.best->evaluation = std::move(again);
    record(*outcome_.best);
  }

  void explain() {
    if (outcome_.best->evaluation.status != Status::ok) return;
    outcome_.effects = effects_of_parts(outcome_.best->text, false, [this](const std::string& text) {
      return judge_.evaluate(judge_.compile("part.cu", text));
    });
  }

  void write_down() {
    if (outcome_.best->evaluation.status != Status::ok) return;
    const fs::path folder = options_.output / task_.name;
    fs::create_directories(folder);
    outcome_.program = folder / "program.cu";
    write_file_atomically(outcome_.program, outcome_.best->text);
    const fs::path module = module_of(folder_);
    if (module.empty()) {
      outcome_.why_no_package = "a native task has no PyTorch module that a package would stand in for";
      return;
    }
    try {
      const fs::path package = folder / fmt::format("{}_fast", package_name());
      fs::remove_all(package);
      export_judged_program(module, task_, outcome_.best->text, package);
      outcome_.package = package;
    } catch (const Error& problem) {
      outcome_.why_no_package = problem.what();
    }
  }

  //! A name that Python can import.
  std::string package_name() const {
    std::string name;
    for (const unsigned char c : task_.name) name += std::isalnum(c) != 0 ? static_cast<char>(c) : '_';
    return std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "task_" + name : name;
  }

  const OptimizeOptions& options_;
  Backend& backend_;
  Archive* archive_;
  TaskFolder folder_;
  Task task_;
  SearchPolicy policy_;
  TaskJudge judge_;
  TaskOutcome outcome_;
};

std::string interval_text(const Evaluation& evaluation) {
  if (evaluation.predicted) return "predicted";
  return fmt::format("[{:.2f}, {:.2f}]", evaluation.timing->low, evaluation.timing->high);
}

void print(const TaskOutcome& outcome) {
  if (!outcome.error.empty()) {
    fmt::print("{}: {}\n", printable(outcome.name), one_line(outcome.error));
    return;
  }
  const auto right = std::ranges::count_if(
      outcome.result.judged, [](const JudgedProgram& finding) { return finding.evaluation.status == Status::ok; });
  fmt::print("{}: {} programs in {:.0f} s, {} of them right{}\n", printable(outcome.name), outcome.result.judged.size(),
             outcome.result.seconds, right, outcome.result.stopped ? "; stopped" : "");
  if (!outcome.best || !outcome.best->evaluation.timing) {
    fmt::print("  nothing that is right and faster\n");
    return;
  }
  const Evaluation& best = outcome.best->evaluation;
  fmt::print("  best {:.2f}x {} over PyTorch's library calls, {:.4f} ms -> {:.4f} ms on {}\n", best.timing->speedup,
             interval_text(best), best.timing->reference_ms, best.timing->candidate_ms, best.device);
  if (!outcome.effects.empty()) fmt::print("{}", printable_lines(effects_table(outcome.effects, best, false)));
  if (!outcome.program.empty()) fmt::print("  program  {}\n", printable(outcome.program.string()));
  if (!outcome.package.empty())
    fmt::print("  package  {} ({})\n", printable(outcome.package.string()), printable(how_to_import(outcome.package)));
  else if (!outcome.why_no_package.empty())
    fmt::print("  no package: {}\n", one_line(outcome.why_no_package));
}

json to_json(const TaskOutcome& outcome) {
  json made{{"task", outcome.name},
            {"error", outcome.error.empty() ? json(nullptr) : json(outcome.error)},
            {"evaluations", outcome.result.judged.size()},
            {"seconds", outcome.result.seconds},
            {"stopped", outcome.result.stopped},
            {"best", nullptr},
            {"techniques", json::array()},
            {"program", nullptr},
            {"package", nullptr}};
  if (!outcome.best) return made;
  made["best"] = cudal1::to_json(outcome.best->evaluation);
  if (outcome.best->evaluation.timing) made["techniques"] = effects_json(outcome.effects, outcome.best->evaluation);
  if (!outcome.program.empty()) made["program"] = outcome.program.string();
  if (!outcome.package.empty()) made["package"] = outcome.package.string();
  return made;
}

std::vector<SuiteTask> tasks_of(const OptimizeOptions& options) {
  std::vector<SuiteTask> tasks;
  for (const fs::path& path : options.paths) {
    SuiteOptions suite = options.selection;
    suite.path = path;
    for (SuiteTask& task : choose_tasks(suite).tasks) tasks.push_back(std::move(task));
  }
  return tasks;
}

TaskOutcome optimize_one(const OptimizeOptions& options, Backend& backend, Archive* archive, const SuiteTask& task,
                         std::uint64_t seed, double seconds) {
  try {
    return TaskOptimizer(options, backend, archive, task_folder_of(task), seed).run(seconds);
  } catch (const std::exception& problem) {
    TaskOutcome failed;
    failed.name = task.label();
    failed.error = problem.what();
    return failed;
  }
}

//! What is left of the minutes is shared by the tasks that are left.
double seconds_for_next(const OptimizeOptions& options, double spent, std::size_t left) {
  if (options.minutes <= 0.0) return std::numeric_limits<double>::infinity();
  return std::max(0.0, 60.0 * options.minutes - spent) / static_cast<double>(left);
}

int run_optimize(const OptimizeOptions& options) {
  const std::vector<SuiteTask> tasks = tasks_of(options);
  const auto backend = choose_backend(options.device, {});
  std::string why_no_archive;
  const auto archive = open_archive(options.archive, why_no_archive);
  if (!archive) report_problem(fmt::format("{} (the search goes on; nothing is recorded)", why_no_archive));
  Random seeds(options.seed != 0 ? options.seed : secret_seed());
  const StopOnInterrupt stop;
  std::vector<TaskOutcome> outcomes;
  double spent = 0.0;
  for (std::size_t i = 0; i < tasks.size() && !stop_requested; ++i) {
    outcomes.push_back(optimize_one(options, *backend, archive.get(), tasks[i], seeds.next(),
                                    seconds_for_next(options, spent, tasks.size() - i)));
    spent += outcomes.back().result.seconds;
    clear_progress();
    if (!options.as_json) print(outcomes.back());
  }
  if (options.as_json) {
    json results = json::array();
    for (const TaskOutcome& outcome : outcomes) results.push_back(to_json(outcome));
    fmt::print("{}\n", json{{"results", results}}.dump(2, ' ', false, json::error_handler_t::replace));
  }
  const auto failed = [](const TaskOutcome& outcome) { return !outcome.error.empty(); };
  return std::ranges::any_of(outcomes, failed) || outcomes.empty() ? 1 : 0;
}

}  // namespace

void add_optimize_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<OptimizeOptions>();
  CLI::App* command = app.add_subcommand("optimize", "Find a verified, faster implementation of a PyTorch module");
  command->footer(
      "Example: cudal1 optimize my_model.py --budget-evals 20 -o fast\n"
      "Ctrl-C ends the search and keeps what was found; what is on record is not judged again.");
  command->add_option("tasks", options->paths, "PyTorch modules (.py), task folders, or suites of them")->required();
  add_selection_options(*command, options->selection);
  command->add_option("--policy", options->policy, "Who writes the programs")->check(CLI::IsMember({"search"}));
  command->add_option("--budget-evals", options->evaluations, "Programs to judge for each task")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--budget-minutes", options->minutes, "Minutes for all tasks together; default: no limit")
      ->check(number_between(0.001, 100000.0));
  command->add_option("-o,--output", options->output, "Folder for the best programs and their packages")
      ->default_str("optimized");
  command->add_option("--device", options->device, "Where to judge")->check(CLI::IsMember({"auto", "cuda", "vgpu"}));
  command->add_option("--archive", options->archive, "Where results are kept (SQLite)");
  command->add_option("--seed", options->seed, "For repeating a search; default: from the operating system")
      ->check(whole_number());
  command->add_option("--jobs", options->jobs, "Compilers at once")->check(CLI::Range(1, 64));
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->callback([options, &action] {
    if (options->output.empty()) options->output = "optimized";
    action = [options] { return run_optimize(*options); };
  });
}

}  // namespace cudal1
