// What training_bench can measure. Each returns the exit code, and goes on where an earlier call was ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench_setting.hpp"

namespace cudal1::bench {

struct TrialBenchOptions {
  std::vector<std::string> adapters;  //!< NAME=FOLDER
  std::vector<std::string> forms = {"directives"};
  std::int64_t rounds = 1, samples = 8;
  std::filesystem::path folder;
};

//! Samples of a model for the test tasks: FOLDER/NAME.FORM.jsonl, a line a task. Where there are several rounds, the
//! later ones see what was found before.
int run_trials(const BenchOptions& common, const TrialBenchOptions& options);

struct SearchBenchOptions {
  int evaluations = 256;
  std::filesystem::path file;
};

//! The search for the test tasks, in training mode: a line a task, with the speed-ups of its programs in their order.
int run_searches(const BenchOptions& common, const SearchBenchOptions& options);

//! Variants of the writer for train tasks as a run judges them, into an archive that must not be there yet.
int run_rate(const BenchOptions& common, const std::filesystem::path& file);

}  // namespace cudal1::bench
