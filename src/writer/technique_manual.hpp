// What techniques say of themselves, for a terminal, as a page and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "writer/technique.hpp"

namespace cudal1 {

using TechniqueList = std::vector<const Technique*>;

//! The techniques of these names, in the order of the manual; all if there are no names. Throws UsageError.
TechniqueList techniques_named(const std::vector<std::string>& names);

//! For a terminal, in lines of at most 100 characters.
std::string techniques_listing(const TechniqueList& techniques);
//! docs/techniques.md
std::string techniques_page(const TechniqueList& techniques);
nlohmann::json techniques_json(const TechniqueList& techniques);

}  // namespace cudal1
