#include "cli/package_timing.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "bench/bench_run.hpp"
#include "bench/results_log.hpp"
#include "bridge/python_nursery.hpp"
#include "cli/bench_device.hpp"
#include "cli/progress.hpp"
#include "cli/stage_log.hpp"
#include "cli/suite_options.hpp"
#include "report/bench_report.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

//! Those that have a package, with their programs in a folder of their own.
struct Measured {
  std::vector<SuiteTask> tasks;
  std::vector<TaskReport*> reports;
};

//! As `bench --programs` finds it.
std::string program_file(const SuiteTask& task) {
  if (task.level && task.id) return fmt::format("level_{}_problem_{}_sample_0_kernel.cu", *task.level, *task.id);
  return task.name + ".cu";
}

Measured with_programs_in(const fs::path& folder, const std::vector<SuiteTask>& tasks,
                          std::vector<TaskReport>& reports) {
  Measured measured;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].package.empty()) continue;
    const fs::path file = folder / program_file(tasks[i]);
    if (fs::exists(file)) {
      reports[i].why_not_beside = "another task of this command has the same name";
      continue;
    }
    fs::copy_file(reports[i].program, file);
    measured.tasks.push_back(tasks[i]);
    measured.reports.push_back(&reports[i]);
  }
  return measured;
}

//! Of an earlier run that was cut off; who cannot read them measures them again.
std::vector<BenchRow> known_rows(const fs::path& file) try {
  return read_results(file);
} catch (const std::exception&) {
  fs::remove(file);
  return {};
}

//! So that a run that is cut off loses nothing it has measured.
void keep_for_later(ResultsLog& log, const BenchRow& row) try {
  log.append(row);
} catch (const std::exception& problem) {
  report_problem(problem.what());
}

std::vector<BenchRow> run_quietly(const std::vector<SuiteTask>& tasks, const BenchOptions& bench,
                                  const fs::path& folder) {
  const std::vector<BenchRow> known = known_rows(folder / "results.jsonl");
  ResultsLog log(folder / "results.jsonl");
  BenchEvents events;
  events.took = stage_log(folder / "log.txt");
  events.row = [&](const BenchRow& row) { keep_for_later(log, row); };
  events.progress = [](const std::string& phase, std::size_t done, std::size_t of, const std::string& task) {
    show_progress(done, of, fmt::format("{} {}", phase, task));
  };
  const auto nursery = nursery_for(2 * tasks.size(), threads_of_each(bench.jobs));
  return run_bench(tasks, bench, known, events);
}

void keep(std::vector<BenchRow> rows, const std::vector<TaskReport*>& reports, const fs::path& folder) {
  fs::remove(folder / "results.jsonl");  // it may hold other programs, and does not know what is degenerate
  ResultsLog log(folder / "results.jsonl");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].degenerate = reports[i]->degenerate;
    log.append(rows[i]);
    if (rows[i].is_correct())
      reports[i]->beside = rows[i];
    else
      reports[i]->why_not_beside = fmt::format("{}: {}", rows[i].status, rows[i].error);
  }
  sort_rows(rows);
  write_bench_report(rows, fmt::format("{} optimised tasks on {}", rows.size(), reports.front()->device), folder);
}

}  // namespace

void time_beside_pytorch(const std::vector<SuiteTask>& tasks, std::vector<TaskReport>& reports,
                         const PackageTimingOptions& options) try {
  const TemporaryFolder programs;
  const Measured measured = with_programs_in(programs.path(), tasks, reports);
  if (measured.tasks.empty()) return;
  BenchOptions bench;
  set_bench_device(bench, options.device, options.gpu);
  bench.verify = false;  // just now
  bench.jobs = options.jobs;
  bench.seed = options.seed;
  bench.programs = ProgramSource::folder(programs.path());
  fs::create_directories(options.folder);
  keep(run_quietly(measured.tasks, bench, options.folder), measured.reports, options.folder);
} catch (const std::exception& problem) {
  report_problem(fmt::format("{} (nothing is measured beside PyTorch's own ways)", problem.what()));
}

}  // namespace cudal1
