// Programs that the writer makes for the run's tasks, each judged: stage 1 learns from them, later stages show them.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "train/assess/assessor.hpp"
#include "train/data/supervised_data.hpp"

namespace cudal1 {

struct VariantStoreOptions {
  std::size_t variants = 24;  //!< tried for each task
  std::uint64_t seed = 0;
  vgpu::GpuProfile gpu;
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

  //! Judges what is missing. False: somebody asked to stop before the end.
  bool complete(std::span<const TrainingTask> tasks, Assessor& assessor);
  //! Of a task that is done; those that were successes. Pointers are to the tasks that are given.
  TaskVariants of(const TrainingTask& task) const;
  VariantCounts counts() const;

 private:
  struct Found {
    std::size_t tried = 0;
    std::vector<ScoredVariant> right;
  };
  void read();
  void judge(std::span<const TrainingTask* const> tasks, Assessor& assessor);

  std::filesystem::path file_;
  VariantStoreOptions options_;
  std::map<std::string, Found> found_;  //!< by task hash
};

}  // namespace cudal1
