// What a training run and its judging processes (cudal1-assess) say to each other: a line of JSON each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "train/assess/assessor.hpp"

namespace cudal1 {

//! The first line: where to judge.
struct AssessSetting {
  std::string device = "vgpu", gpu = "h200";
  std::filesystem::path archive;  //!< empty: none
  int jobs = 1;                   //!< compilers at once
  std::uint64_t bytes_for_input_sets = std::uint64_t{512} << 20;
  bool beside_others = false;
  std::uint64_t seed = 0;  //!< of predictions; where times are measured, inputs stay a secret
};

//! Every further line: programs of one task.
struct AssessRequest {
  std::string family, graph_json;
  std::vector<std::string> programs;
  bool afresh = false;  //!< what is known is judged as well, and nothing is kept of it: can it be judged now?
};

nlohmann::json to_json(const AssessSetting& setting);
nlohmann::json to_json(const AssessRequest& request);
nlohmann::json to_json(const Assessment& assessment);
// These throw json::exception.
AssessSetting assess_setting_from(const nlohmann::json& said);
AssessRequest assess_request_from(const nlohmann::json& said);
Assessment assessment_from(const nlohmann::json& said);

}  // namespace cudal1
