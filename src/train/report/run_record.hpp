// What a run's folder says of it, finished or not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "train/data/training_example.hpp"
#include "train/report/metrics_table.hpp"
#include "train/run/hack_watch.hpp"
#include "train/run/run_history.hpp"
#include "train/run/training_config.hpp"

namespace cudal1 {

//! How far a stage has come.
struct StageProgress {
  std::string stage;
  std::size_t steps = 0;    //!< in metrics.csv
  bool is_through = false;  //!< its last checkpoint says so
  std::string why_stopped = {};  //!< before its last step; empty: it was not
};

//! A line of suspicions.jsonl.
struct Suspicion {
  std::string kind, task, message;
  std::int64_t step = 0;
  std::optional<double> speedup, best_before;
  bool is_measured_again = false;
};

//! What the watch for hacking had counted at a checkpoint of stage 3.
struct WatchedSoFar {
  std::int64_t step = 0;
  WatchCounts counts;
};

struct RunRecord {
  std::filesystem::path folder;
  TrainingConfig config;
  std::string base_model, version;  //!< SHA-256 of the model's files; of the program that began the run
  std::vector<RunStart> starts;
  std::vector<StageValidation> validations;
  std::vector<StageProgress> stages;  //!< of the configuration, in their order
  MetricsTable metrics;
  std::vector<TrainingExample> samples;    //!< of stage 3
  std::set<std::string> writers_plans;     //!< of programs that the writer made, which prompts may have shown
  std::optional<WatchedSoFar> watched;
  std::vector<Suspicion> suspicions;

  std::string name() const { return folder.filename().string(); }
  //! Nothing: nobody wrote it down.
  std::optional<bool> is_predicted() const;
  //! On which programs were judged.
  std::string judged_on() const;
};

//! Throws Error where this is no run, or one of its files is damaged. Lines that a kill cut short are passed over.
RunRecord read_run(const std::filesystem::path& folder);

}  // namespace cudal1
