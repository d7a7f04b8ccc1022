// What a run's folder keeps of its stages for those who read about it later: where each was trained and judged, and
// what the model could do then.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "train/course/training_course.hpp"

namespace cudal1 {

//! The hardware, as people call it.
struct TrainedOn {
  std::string judged_on;  //!< the GPU that programs ran on, or whose times were predicted
  bool is_predicted = false;
  std::string model_on;  //!< where the model was computed
  bool operator==(const TrainedOn&) const = default;
};

struct RecordedStage {
  StageEnd end;
  TrainedOn on;
};

nlohmann::json to_json(const StageEnd& stage);

//! Puts it into RUN/record.json, in the place of an earlier end of the same stage. Throws Error.
void record_stage(const std::filesystem::path& run, const RecordedStage& stage);

//! In the order in which they ended; none where the run has no such file. Throws Error.
std::vector<RecordedStage> recorded_stages(const std::filesystem::path& run);

}  // namespace cudal1
