// `bench SUITE --policy …`: samples of policies for every task, each judged (docs/bench.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/policy_options.hpp"
#include "cli/search_pool.hpp"
#include "cli/suite_options.hpp"
#include "report/sample_row.hpp"

namespace cudal1 {

struct PolicyBenchOptions {
  SearchPoolOptions pool;
  PolicyOptions policies;         //!< as the pool's arguments say them
  std::filesystem::path archive;  //!< whose programs are shown as exemplars; empty: none
  std::filesystem::path output;   //!< for results; empty: they are only printed
  std::filesystem::path suite;    //!< for the title
  bool as_json = false;
};

//! Draws what is not known already, and reports. Returns the exit code. Throws Error.
int run_policy_bench(const ChosenTasks& chosen, PolicyBenchOptions options);

//! Prints, and writes into the output folder, what came of samples. Returns the exit code.
int report_samples(std::vector<SampleRow> rows, const PolicyBenchOptions& options,
                   const std::vector<std::string>& problems);

inline constexpr const char* samples_file = "samples.jsonl";

}  // namespace cudal1
