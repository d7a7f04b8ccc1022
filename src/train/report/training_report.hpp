// What came of training runs and ablations, as one page with pictures.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "train/report/run_record.hpp"

namespace cudal1 {

struct TrainingReport {
  std::string markdown;
  std::map<std::string, std::string> pictures;  //!< SVG by file name
};

//! A run's section: what was trained how, curves, programs before and after, rewards that were not earned. Pictures are
//! linked as PICTURES/NAME and begin with `prefix`.
std::string run_section(const RunRecord& run, const std::string& pictures, const std::string& prefix,
                        TrainingReport& report);

//! Of each folder, in their order; each holds a run or an ablation. `command`: that makes the page. Throws Error.
TrainingReport training_report(const std::vector<std::filesystem::path>& folders, const std::string& command,
                               const std::string& pictures);

}  // namespace cudal1
