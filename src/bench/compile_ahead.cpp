#include "bench/compile_ahead.hpp"

#include <algorithm>

#include "bridge/module_worker.hpp"

namespace cudal1 {
namespace {

constexpr int many_nodes = 150, nodes_a_thread = 50, most_threads = 8;

}  // namespace

bool is_large_graph(int nodes) { return nodes >= many_nodes; }

int compile_threads(int nodes) { return is_large_graph(nodes) ? std::min(nodes / nodes_a_thread, most_threads) : 1; }

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

}  // namespace cudal1
