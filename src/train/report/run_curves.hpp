// A run's numbers as pictures: one for each stage that has begun.
#pragma once

#include <string>
#include <vector>

#include "train/report/run_record.hpp"

namespace cudal1 {

struct StagePicture {
  std::string stage, svg;
};

std::vector<StagePicture> stage_pictures(const RunRecord& run);

}  // namespace cudal1
