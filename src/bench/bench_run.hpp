// A suite measured: everything is made ready in parallel first, then one task at a time is alone on the GPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/device_memory.hpp"
#include "bench/program_source.hpp"
#include "bench/task_timer.hpp"
#include "graph/task.hpp"
#include "report/bench_row.hpp"
#include "suite/suite.hpp"

namespace cudal1 {

struct BenchOptions {
  std::vector<std::string> baselines{"eager", "compile", "compile-reduce-overhead", "cuda-graph"};
  ProgramSource programs;
  std::string device;  //!< "cuda", "vgpu" (predicted), "cpu"
  std::string gpu;     //!< cuda: the name of the GPU; vgpu: whose times are predicted
  std::string gpu_id;  //!< for its lock; empty: none is needed
  bool verify = true;
  TimingLimits timing;
  int jobs = 1;
  std::uint64_t seed = 0;
  std::uint64_t device_bytes = DeviceMemory::unlimited;  //!< that our processes may use together
  //! A task folder, read with metas; to estimate what of these its processes need. Empty: nothing is estimated.
  std::function<Task(const std::filesystem::path& folder)> read_task;
};

//! What has happened, for whoever shows progress or keeps results. Called from one thread at a time; may not throw.
struct BenchEvents {
  std::function<void(const BenchRow&)> row = [](const BenchRow&) {};
  //! "judged", 4.2, "level1/19_ReLU", "reference 3.1, program 0.9"
  std::function<void(const std::string& what, double seconds, const std::string& task, const std::string& details)>
      took = [](const std::string&, double, const std::string&, const std::string&) {};
  std::function<void(const std::string& phase, std::size_t done, std::size_t of, const std::string& task)> progress =
      [](const std::string&, std::size_t, std::size_t, const std::string&) {};
};

//! One row a task, in their order. Those of `known` that were made from the same things in the same way are taken over.
//! A task that fails is a row. Throws Error only when nothing can go on.
std::vector<BenchRow> run_bench(const std::vector<SuiteTask>& tasks, const BenchOptions& options,
                                const std::vector<BenchRow>& known, const BenchEvents& events);

//! Of a row whose task or process failed, a second try may say more.
bool is_final(const BenchRow& row);

}  // namespace cudal1
