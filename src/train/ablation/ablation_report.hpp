// What an ablation found, for people, tables and programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "train/ablation/ablation_scores.hpp"

namespace cudal1 {

//! How it was found.
struct AblationProtocol {
  std::string device;        //!< on which programs were judged
  bool is_predicted = false;  //!< times are
  TrialOptions trial;
};

//! Arms with intervals, differences pair by pair, and the paper's table beside ours.
std::string ablation_markdown(const AblationScores& scores, const AblationProtocol& protocol);
//! A row for each figure: kind,arm,against,measure,value,low,high.
std::string ablation_csv(const AblationScores& scores);
nlohmann::json ablation_json(const AblationScores& scores, const AblationProtocol& protocol);

}  // namespace cudal1
