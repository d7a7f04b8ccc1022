// One task on its way through a bench.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "bench/device_memory.hpp"
#include "bench/program_source.hpp"
#include "report/bench_row.hpp"
#include "suite/suite.hpp"
#include "suite/task_export.hpp"

namespace cudal1 {

struct BenchItem {
  const SuiteTask* task = nullptr;
  std::optional<ProgramChoice> program;
  TaskFolder folder;
  std::filesystem::path package;
  BenchRow row;
  std::vector<double> ratios;  //!< of a solution that was timed already: eager's time over its own
  int nodes = 0;
  std::map<std::string, double> compile_seconds;  //!< that baselines have taken already
  bool exported_alone = false;                    //!< memory was short for it before
  bool wants_to_be_alone = false;                 //!< when it is judged: it was short of time or memory beside others
  bool judged = false;                            //!< and may be made
  bool in_pool = false;                           //!< its worker was begun in this round
  int compilations_left = 0;                      //!< of its baselines, ahead
  bool done = false;                              //!< the row is final

  std::uint64_t judge_bytes = 0, worker_bytes = 0;  //!< of device memory: estimates, larger ones after each failure
  DeviceMemory::Share judge_share;
};

}  // namespace cudal1
