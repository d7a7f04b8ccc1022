#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "policy/written/language_model_policy.hpp"

namespace cudal1 {

//! What a language model did in a search.
struct PolicyRecord {
  std::string policy;
  GenerationTotals totals;
};

//! "local: 12 samples, 3 new programs, 2 copies, 7 without a program; 4210 tokens read, 610 written"
std::string record_text(const PolicyRecord& record);
nlohmann::json to_json(const PolicyRecord& record);

}  // namespace cudal1
