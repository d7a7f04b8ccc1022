// What each part of a program does, for people and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "optimize/part_effects.hpp"

namespace cudal1 {

//! `alone`: with a column of the parts by themselves.
std::string effects_table(const std::vector<PartEffect>& effects, const Evaluation& whole, bool alone);
nlohmann::json effects_json(const std::vector<PartEffect>& effects, const Evaluation& whole);

}  // namespace cudal1
