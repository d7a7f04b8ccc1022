#include "bench/compile_ahead.hpp"

#include <algorithm>

#include "bridge/module_worker.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr int many_nodes = 150, threads_for_many = 4;

}  // namespace

bool is_large_graph(int nodes) { return nodes >= many_nodes; }

int compile_threads(int nodes) { return is_large_graph(nodes) ? threads_for_many : 1; }

std::vector<std::string> compiled_baselines(const std::vector<std::string>& baselines) {
  std::vector<std::string> compiled;
  std::ranges::copy_if(baselines, std::back_inserter(compiled),
                       [](const std::string& name) { return name.starts_with("compile"); });
  return compiled;
}

std::vector<CompileJob> compile_jobs(const CompileJob& whole) {
  if (!is_large_graph(whole.nodes)) return {whole};
  std::vector<CompileJob> jobs;
  for (const std::string& baseline : whole.baselines)
    jobs.push_back({whole.module, whole.device, {baseline}, whole.nodes});
  return jobs;
}

std::vector<std::pair<std::string, double>> compile_ahead(const CompileJob& job) {
  ModuleWorker worker(job.module, job.device, compile_threads(job.nodes));
  std::vector<std::pair<std::string, double>> stages;
  for (const std::string& baseline : job.baselines) stages.emplace_back(baseline, worker.compile(baseline));
  return stages;
}

int forget_choices_of_compilers(const fs::path& cache) {
  int forgotten = 0;
  std::error_code problem;
  for (fs::recursive_directory_iterator entry(cache, problem), end; !problem && entry != end; entry.increment(problem))
    if (entry->path().extension() == ".best_config") forgotten += fs::remove(entry->path(), problem) ? 1 : 0;
  return forgotten;
}

}  // namespace cudal1
