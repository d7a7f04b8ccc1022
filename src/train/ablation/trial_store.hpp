// The trial of one arm under one seed, in a file: a line of JSON for each task, kept as soon as its group of tasks is
// done, so that a trial which was ended goes on to the same numbers.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "train/course/policy_trial.hpp"

namespace cudal1 {

class TrialStore {
 public:
  //! Reads what is done. Tasks must outlive this. Throws Error, naming file and line, for what is of other tasks, of
  //! another number of rounds and samples, or damaged.
  TrialStore(std::filesystem::path file, std::span<const TrainingTask> tasks, const TrialOptions& options);

  const std::vector<TrialTask>& done() const { return done_; }
  bool is_complete() const { return done_.size() == tasks_.size(); }

  //! Tries what is missing, `tasks_at_once` together. False: somebody asked to stop before the end; what was judged
  //! meanwhile is not believed.
  bool complete(LearningModel& model, Assessor& assessor, const MakePrompt& prompt, const std::function<bool()>& stop,
                const std::function<void(std::size_t done, std::size_t all)>& progress);

 private:
  void read();
  void write() const;

  std::filesystem::path file_;
  std::span<const TrainingTask> tasks_;
  TrialOptions options_;
  std::vector<TrialTask> done_;  //!< the first ones of tasks_
};

}  // namespace cudal1
