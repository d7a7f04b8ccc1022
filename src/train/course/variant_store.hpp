// Programs that the writer makes for the run's tasks, each judged: stage 1 learns from them, later stages show them.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/line_log.hpp"
#include "train/assess/assessor.hpp"
#include "train/data/supervised_data.hpp"

namespace cudal1 {

struct VariantStoreOptions {
  std::size_t variants = 24;  //!< tried for each task
  std::uint64_t seed = 0;
  vgpu::GpuProfile gpu;
  double least_replaced_share = 0.5;  //!< of the reference's time, for a success
  std::string measured_on;            //!< what the judge calls its GPU
  //! Another run's file, of the same GPU: what it has for the tasks is taken over and not judged again. Empty: none.
  std::filesystem::path known;
  std::size_t tasks_at_once = 8;  //!< that are handed to the judge together
  std::function<bool()> stop = [] { return false; };
  std::function<void(std::size_t done, std::size_t all)> progress = [](std::size_t, std::size_t) {};
};

//! What became of the variants of all tasks.
struct VariantCounts {
  std::size_t tried = 0, right = 0;
};

class VariantStore {
 public:
  //! Opens or makes the file: a line of JSON for each task that is done, so that a kill loses little. Throws Error.
  VariantStore(const std::filesystem::path& file, VariantStoreOptions options);

  //! Takes over and judges what is missing. False: somebody asked to stop before the end. Throws Error where what is
  //! known was measured elsewhere.
  bool complete(std::span<const TrainingTask> tasks, Assessor& assessor);
  //! Of a task that is done; those that were successes. Pointers are to the tasks that are given.
  TaskVariants of(const TrainingTask& task) const;
  VariantCounts counts() const;

 private:
  struct Found {
    std::size_t tried = 0;
    std::vector<ScoredVariant> right;
    std::string measured_on;  //!< empty: this was not written down yet
  };
  using FoundByTask = std::map<std::string, Found>;  //!< by task hash
  static FoundByTask read(const std::filesystem::path& file);
  std::vector<const TrainingTask*> missing(std::span<const TrainingTask> tasks) const;
  void take_over(std::span<const TrainingTask* const> tasks);
  void keep(const TrainingTask& task, Found found, LineLog& log);
  void judge(std::span<const TrainingTask* const> tasks, Assessor& assessor);

  std::filesystem::path file_;
  VariantStoreOptions options_;
  FoundByTask found_;
};

}  // namespace cudal1
