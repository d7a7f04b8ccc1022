#include "cli/optimizer.hpp"

#include <fmt/format.h>

#include "archive/evaluation_record.hpp"
#include "base/random.hpp"
#include "cli/package_timing.hpp"
#include "cli/progress.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

//! Empty where it cannot be opened; also makes a new one, so that searches find it made.
fs::path usable_archive(const fs::path& asked) {
  std::string why_none;
  if (open_archive(asked, why_none)) return archive_file(asked);
  report_problem(fmt::format("{} (the search goes on; nothing is recorded)", why_none));
  return {};
}

//! Not the seed of any search.
std::uint64_t seed_of_timing(const SearchPoolOptions& options) { return Random(~options.seed).next(); }

}  // namespace

std::vector<TaskReport> optimize(const std::vector<SuiteTask>& tasks, const OptimizerOptions& options) {
  const fs::path archive = usable_archive(options.archive);
  SearchPoolUse use;
  use.complete = [&](std::size_t, SearchRequest& request) {
    request.archive = archive;
    request.explain = options.explain;
    request.best_is_timed_later = options.beside;
    return true;
  };
  use.ended = [&](std::size_t, const TaskReport& report) {
    if (tasks.size() > 1) report_problem(report.headline);
  };
  SearchPoolResult found = run_search_pool(tasks, options.pool, use);
  std::vector<SuiteTask> begun;
  std::vector<TaskReport> reports;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!found.reports[i]) continue;
    begun.push_back(tasks[i]);
    reports.push_back(std::move(*found.reports[i]));
  }
  if (options.beside && !options.pool.stop())
    time_beside_pytorch(begun, reports,
                        {found.device, options.pool.gpu, options.pool.output / "bench", options.pool.jobs,
                         seed_of_timing(options.pool)});
  return reports;
}

}  // namespace cudal1
