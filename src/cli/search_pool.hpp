// Many tasks, each worked on in a process of its own (cli/search_process.hpp), several at once: as many as the device's
// memory allows, each with its share of the time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/search_process.hpp"
#include "suite/suite.hpp"

namespace cudal1 {

struct SearchPoolOptions {
  std::string device = "auto", gpu = "h200", policy = "search";
  std::vector<std::string> policy_arguments;    //!< what was said of policies, for the processes that search
  std::vector<std::string> policy_environment;  //!< variables that these have beside the few that all have
  std::filesystem::path output;                 //!< has a folder for each task; empty: none is needed
  int programs_each = 20;                       //!< that are judged for a task
  double minutes = 0.0;                         //!< 0: as long as it takes
  std::uint64_t seed = 0;                       //!< from which each task has its own
  int jobs = 1;
  int at_once = 0;  //!< 0: as many as suits the device
  //! Whether processes are to end and report what they have. Asked from many threads.
  std::function<bool()> stop = [] { return false; };
};

//! What one command wants of all this. Called from one thread at a time.
struct SearchPoolUse {
  //! What a task's process is to do, beside what is the same for all. False: nothing. Called again for a process that
  //! goes on after another.
  std::function<bool(std::size_t task, SearchRequest& request)> complete;
  std::function<void(std::size_t task, const SampleRow& sample)> sample = [](std::size_t, const SampleRow&) {};
  std::function<void(std::size_t task, const TaskReport& report)> ended = [](std::size_t, const TaskReport&) {};
};

struct SearchPoolResult {
  std::string device;                              //!< "cuda" or "vgpu"
  std::vector<std::optional<TaskReport>> reports;  //!< nothing: the task had no process
};

//! Exports all tasks, then starts their processes. Throws Error where there is no such device.
SearchPoolResult run_search_pool(const std::vector<SuiteTask>& tasks, const SearchPoolOptions& options,
                                 const SearchPoolUse& use);

}  // namespace cudal1
