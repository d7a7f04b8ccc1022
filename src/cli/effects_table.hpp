// What each part of a program does: for people, as JSON and as a picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "optimize/part_effects.hpp"

namespace cudal1 {

//! `alone`: with columns of the parts by themselves.
std::string effects_table(const std::vector<PartEffect>& effects, const Evaluation& whole, bool alone);

//! What the table leaves open, in lines: what the parts come to together, why a part cannot stand alone or be left out.
std::string effects_notes(const std::vector<PartEffect>& effects, const Evaluation& whole);

nlohmann::json effects_json(const std::vector<PartEffect>& effects, const Evaluation& whole);

//! A bar chart (SVG).
std::string effects_plot(const std::vector<PartEffect>& effects, const Evaluation& whole, const std::string& title);

}  // namespace cudal1
