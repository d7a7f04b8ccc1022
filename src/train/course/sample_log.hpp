// What the model wrote in stage 3 and what it earned, for people and for other trainers (docs/training_data.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "base/line_log.hpp"
#include "train/stages/sampled_group.hpp"
#include "train/training_task.hpp"

namespace cudal1 {

class SampleLog {
 public:
  //! Goes on from what state() said when a checkpoint was written; null: from the beginning. Lines that were written
  //! since then go, for the steps come again. Throws Error, also for what state() did not make.
  SampleLog(const std::filesystem::path& file, const nlohmann::json& state);

  //! An example for each answer that counts; whoever could not be judged does not. `group`: number among the step's.
  void add(std::int64_t step, std::size_t group, const TrainingTask& task, const SampledGroup& sampled);

  nlohmann::json state() const;

 private:
  LineLog log_;
  std::int64_t lines_ = 0;
};

}  // namespace cudal1
