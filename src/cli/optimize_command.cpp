#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "archive/evaluation_record.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "base/seconds_since.hpp"
#include "bench/bench_run.hpp"
#include "bench/device_memory.hpp"
#include "bench/memory_need.hpp"
#include "bench/results_log.hpp"
#include "bridge/python_nursery.hpp"
#include "cli/bench_device.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/number_options.hpp"
#include "cli/optimized_task.hpp"
#include "cli/printable.hpp"
#include "cli/progress.hpp"
#include "cli/suite_options.hpp"
#include "judge/backend_profile.hpp"
#include "optimize/fair_turns.hpp"
#include "optimize/task_search.hpp"
#include "policy/search/search_policy.hpp"
#include "report/bench_report.hpp"
#include "suite/task_export.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct OptimizeOptions {
  std::vector<fs::path> paths;
  SuiteOptions selection;
  std::string device = "auto";
  VgpuOptions vgpu;
  std::string policy = "search";
  int evaluations = 20;
  double minutes = 0.0;  //!< 0: as long as it takes
  fs::path output, archive;
  std::uint64_t seed = 0;
  int jobs = default_jobs();
  int at_once = 2;
  bool beside = true, explain = true;
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

//! "level1_19_ReLU": a folder's name for a task.
std::string folder_name(const SuiteTask& task) {
  std::string name;
  const bool from_lines =
      !task.code.empty() && !task.suite.empty();  // one file may hold the same task in several sizes
  for (const unsigned char c : (from_lines ? task.suite + "_" : "") + task.label())
    name += std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' ? static_cast<char>(c) : '_';
  return name;
}

vgpu::GpuProfile profile_for_search(const OptimizeOptions& options, const Backend& backend) {
  if (backend.predicted()) return vgpu::find_profile(options.vgpu.gpu);
  const vgpu::MatchingProfile matching = profile_of(backend);
  return vgpu::parse_profile(matching.text, matching.origin);
}

//! One task on its way: searched, then finished.
struct ActiveTask {
  std::size_t index = 0;
  TaskFolder source;
  fs::path folder;
  DeviceMemory::Share memory;  //!< goes back after the search has
  std::unique_ptr<TaskSearch> search;
};

//! One that is read, and waits for memory.
struct WaitingTask {
  ActiveTask place;
  Task task;
};

//! That programs are verified on. Where times are predicted they lie in the machine's own memory.
std::uint64_t bytes_for_input_sets(const Backend& backend) {
  constexpr std::uint64_t of_the_machine = std::uint64_t{512} << 20;
  return backend.predicted() ? of_the_machine : static_cast<std::uint64_t>(backend.info().memory_bytes) / 16;
}

//! Who times has a second runner, with memory of its own, beside the one that is judged.
std::uint64_t search_bytes(const Task& task, const Backend& backend) {
  return idle_judge_bytes + 2 * judge_bytes(task) + bytes_for_input_sets(backend);
}

class Optimizer {
 public:
  Optimizer(const OptimizeOptions& options, std::vector<SuiteTask> tasks)
      : options_(options),
        tasks_(std::move(tasks)),
        backend_(choose_backend(options.device, options.vgpu)),
        gpu_(profile_for_search(options, *backend_)),
        memory_(backend_->predicted() ? DeviceMemory::unlimited : device_bytes_to_share(0)),
        seeds_(options.seed),
        outcomes_(tasks_.size()) {
    std::string why_none;
    archive_ = open_archive(options.archive, why_none);
    if (!archive_) report_problem(fmt::format("{} (the search goes on; nothing is recorded)", why_none));
  }

  std::vector<OptimizedTask> run() {
    while (!active_.empty() || (has_more() && !stop_requested)) {
      while (active_.size() < static_cast<std::size_t>(options_.at_once) && has_more() && !stop_requested)
        if (!begin_next()) break;
      if (!active_.empty()) take_turn();
    }
    outcomes_.resize(next_);  // of those that were read before somebody asked to stop
    if (options_.beside && !stop_requested) measure_beside();
    return std::move(outcomes_);
  }

 private:
  bool has_more() const { return waiting_ || next_ < tasks_.size(); }

  //! False: there is no memory for it as long as the others have theirs.
  bool begin_next() {
    if (!waiting_ && !read(next_++)) return true;
    auto memory = memory_.try_take(search_bytes(waiting_->task, *backend_));
    if (!memory) return false;
    waiting_->place.memory = std::move(*memory);
    WaitingTask task = std::move(*waiting_);
    waiting_.reset();
    begin(std::move(task));
    return true;
  }

  bool read(std::size_t index) {
    outcomes_[index].name = tasks_[index].label();
    try {
      ActiveTask place{index, task_folder_of(tasks_[index]), options_.output / own_folder(tasks_[index]), {}, nullptr};
      fs::create_directories(place.folder);
      Task task = load_task_with_metas(place.source.folder);
      waiting_ = WaitingTask{std::move(place), std::move(task)};
      return true;
    } catch (const std::exception& problem) {
      outcomes_[index].error = problem.what();
      return false;
    }
  }

  //! Tasks of the same name are told apart by numbers.
  std::string own_folder(const SuiteTask& task) {
    std::string name = folder_name(task);
    for (int number = 2; !folders_.insert(name).second; ++number)
      name = fmt::format("{}_{}", folder_name(task), number);
    return name;
  }

  void begin(WaitingTask task) {
    const std::uint64_t seed = seeds_.next();
    const auto make_policy = [&](const OpGraph& graph) {
      return std::make_unique<SearchPolicy>(graph, gpu_, Random(seed));
    };
    try {
      task.place.search = std::make_unique<TaskSearch>(*backend_, std::move(task.task), archive_.get(), make_policy,
                                                       search_options(task.place));
      active_.push_back(std::move(task.place));
    } catch (const std::exception& problem) {
      outcomes_[task.place.index].error = problem.what();
    }
  }

  TaskSearchOptions search_options(const ActiveTask& task) const {
    TaskSearchOptions made;
    made.limits.evaluations = options_.evaluations;
    if (options_.minutes > 0.0) {
      const std::size_t left = tasks_.size() - task.index + active_.size();
      made.limits.seconds = share_of_time(60.0 * options_.minutes - seconds_since(begin_), left);
    }
    made.policy_name = options_.policy;
    made.progress_file = task.folder / "progress.json";
    made.jobs = options_.jobs;
    made.bytes_for_input_sets = bytes_for_input_sets(*backend_);
    made.stop = [] { return stop_requested.load(); };
    made.report = report_problem;
    return made;
  }

  void take_turn() {
    std::vector<double> seconds;
    for (const ActiveTask& task : active_) seconds.push_back(task.search->run().spent().seconds);
    const std::size_t turn = next_in_turn(seconds);
    ActiveTask& task = active_[turn];
    bool goes_on = false;
    try {
      goes_on = task.search->step();
      show(task);
      if (!goes_on) finish(task);
    } catch (const std::exception& problem) {
      outcomes_[task.index].error = problem.what();
    }
    if (!goes_on) active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(turn));
  }

  void show(const ActiveTask& task) const {
    const SearchRun& run = task.search->run();
    const int judged = run.spent().evaluations, of = run.limits().evaluations;
    const double a_program = judged > 0 ? run.spent().seconds / judged : 0.0;
    const double left = std::min(run.limits().seconds - run.spent().seconds, a_program * (of - judged));
    show_progress(static_cast<std::size_t>(judged), static_cast<std::size_t>(of),
                  fmt::format("{}: best {:.2f}x, {:.0f} s left", outcomes_[task.index].name, run.best_reward(),
                              std::max(0.0, left)));
  }

  void finish(ActiveTask& task) {
    OptimizedTask& outcome = outcomes_[task.index];
    const SearchRun& run = task.search->run();
    outcome.evaluations = run.spent().evaluations;
    outcome.judged = static_cast<int>(run.judged().size());
    outcome.right = static_cast<int>(std::ranges::count_if(
        run.judged(), [](const JudgedProgram& finding) { return finding.evaluation.status == Status::ok; }));
    outcome.seconds = run.seconds();
    outcome.stopped = stop_requested;
    outcome.exhausted = run.is_exhausted();
    outcome.best = task.search->confirmed_best();
    const bool right = outcome.best && outcome.best->evaluation.status == Status::ok;
    if (right && options_.explain && !stop_requested) outcome.effects = task.search->effects(outcome.best->text);
    if (right && !stop_requested) outcome.replaced = task.search->replaced_share(outcome.best->text);
    if (right) write_best(outcome, task.search->task(), task.source, task.folder);
    if (tasks_.size() > 1) report_problem(headline(outcome));
  }

  //! As users would run it: the packages in Python, and PyTorch's own ways, timed in turn. Whatever fails here costs no
  //! result.
  void measure_beside() try {
    const TemporaryFolder programs;
    std::vector<std::size_t> indices;
    std::vector<SuiteTask> measured;
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (outcomes_[i].package.empty()) continue;
      const fs::path file = programs.path() / program_file(tasks_[i]);
      if (fs::exists(file)) {
        outcomes_[i].why_not_beside = "another task of this command has the same name";
        continue;
      }
      fs::copy_file(outcomes_[i].program, file);
      indices.push_back(i);
      measured.push_back(tasks_[i]);
    }
    if (measured.empty()) return;
    BenchOptions bench;
    set_bench_device(bench, backend_->predicted() ? "vgpu" : "cuda", options_.vgpu.gpu);
    bench.verify = false;  // just now
    bench.jobs = options_.jobs;
    bench.seed = seeds_.next();
    bench.programs = ProgramSource::folder(programs.path());
    keep(run_quietly(measured, bench), indices);
  } catch (const std::exception& problem) {
    report_problem(fmt::format("{} (nothing is measured beside PyTorch's own ways)", problem.what()));
  }

  //! As `bench --programs` finds it.
  static std::string program_file(const SuiteTask& task) {
    if (task.level && task.id) return fmt::format("level_{}_problem_{}_sample_0_kernel.cu", *task.level, *task.id);
    return task.name + ".cu";
  }

  std::vector<BenchRow> run_quietly(const std::vector<SuiteTask>& tasks, const BenchOptions& bench) const {
    BenchEvents events;
    events.progress = [](const std::string& phase, std::size_t done, std::size_t of, const std::string& task) {
      show_progress(done, of, fmt::format("{} {}", phase, task));
    };
    const auto nursery = nursery_for(2 * tasks.size(), threads_of_each(bench.jobs));
    return run_bench(tasks, bench, {}, events);
  }

  void keep(std::vector<BenchRow> rows, const std::vector<std::size_t>& indices) {
    const fs::path folder = options_.output / "bench";
    fs::create_directories(folder);
    fs::remove(folder / "results.jsonl");
    ResultsLog log(folder / "results.jsonl");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      log.append(rows[i]);
      OptimizedTask& outcome = outcomes_[indices[i]];
      if (rows[i].is_correct())
        outcome.beside = rows[i];
      else
        outcome.why_not_beside = fmt::format("{}: {}", rows[i].status, rows[i].error);
    }
    sort_rows(rows);
    write_bench_report(rows, fmt::format("{} optimised tasks on {}", rows.size(), backend_->info().name), folder);
  }

  const OptimizeOptions& options_;
  std::vector<SuiteTask> tasks_;
  std::unique_ptr<Backend> backend_;
  vgpu::GpuProfile gpu_;
  std::unique_ptr<Archive> archive_;
  DeviceMemory memory_;  //!< before those who have shares of it
  Random seeds_;
  std::vector<OptimizedTask> outcomes_;
  std::optional<WaitingTask> waiting_;
  std::set<std::string> folders_;  //!< that tasks have
  std::vector<ActiveTask> active_;
  std::size_t next_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
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

int run_optimize(OptimizeOptions options) {
  choose_seed(options.seed);
  const StopOnInterrupt stop;
  const std::vector<OptimizedTask> outcomes = Optimizer(options, tasks_of(options)).run();
  clear_progress();
  if (options.as_json) {
    json results = json::array();
    for (const OptimizedTask& outcome : outcomes) results.push_back(to_json(outcome));
    const json all{{"seed", options.seed}, {"results", results}};
    fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    for (const OptimizedTask& outcome : outcomes) print(outcome);
    fmt::print("seed {}\n", options.seed);
  }
  const auto has_result = [](const OptimizedTask& outcome) { return outcome.error.empty(); };
  return std::ranges::any_of(outcomes, has_result) ? 0 : 1;
}

}  // namespace

void add_optimize_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<OptimizeOptions>();
  CLI::App* command = app.add_subcommand("optimize", "Find a verified, faster implementation of a PyTorch module");
  command->footer(
      "Example: cudal1 optimize my_model.py --budget-evals 20 -o fast\n"
      "Ctrl-C ends the search and keeps what was found. The same command goes on where it was ended; what is on "
      "record\n"
      "is not judged again. A larger budget goes further.");
  command->add_option("tasks", options->paths, "PyTorch modules (.py), task folders, or suites of them")->required();
  add_selection_options(*command, options->selection);
  command->add_option("--policy", options->policy, "Who writes the programs")->check(CLI::IsMember({"search"}));
  command->add_option("--budget-evals", options->evaluations, "Programs to judge for each task (default: 20)")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--budget-minutes", options->minutes, "Minutes for all searches together; default: no limit")
      ->check(number_between(0.001, 100000.0));
  command->add_option("-o,--output", options->output, "Folder for the best programs and their packages (optimized)");
  command->add_option("--device", options->device, "Where to judge")->check(CLI::IsMember({"auto", "cuda", "vgpu"}));
  command->add_option("--gpu", options->vgpu.gpu, "Whose times the virtual GPU predicts (default: h200)");
  command->add_option("--archive", options->archive, "Where results are kept (SQLite)");
  command->add_option("--seed", options->seed, "For repeating a search; default: from the operating system")
      ->check(whole_number());
  command->add_option("--jobs", options->jobs, "Compilers at once")->check(CLI::Range(1, 64));
  command->add_option("--at-once", options->at_once, "Tasks that take turns on the device (default: 2)")
      ->check(CLI::Range(1, 64));
  command->add_flag("!--no-baselines", options->beside, "Do not measure PyTorch's own ways beside the result");
  command->add_flag("!--no-explain", options->explain, "Do not measure what each directive contributes");
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->callback([options, &action] {
    if (options->output.empty()) options->output = "optimized";
    action = [options] { return run_optimize(*options); };
  });
}

}  // namespace cudal1
