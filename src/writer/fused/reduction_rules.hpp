// Operators that reduce, as terms: sums, extrema, norms, softmax, normalisations, losses.
#pragma once

#include <string_view>
#include <unordered_map>

#include "writer/fused/operator_rules.hpp"

namespace cudal1 {

using OperatorRules = std::unordered_map<std::string_view, OperatorRule>;

void add_reduction_rules(OperatorRules& rules);

}  // namespace cudal1
