// An ablation as a section of a report, from its ablation.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cudal1 {

//! Arms beside the paper's, controls, and differences pair by pair, with intervals and each seed's figures. Throws
//! Error for what is no such table.
std::string ablation_section(const nlohmann::json& ablation);

//! What showing what was found is worth: `bucket` beside every other arm, as a picture. Empty: there is no such arm.
std::string ablation_picture(const nlohmann::json& ablation);

}  // namespace cudal1
