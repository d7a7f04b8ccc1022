// Operators that add up as they go, as terms: cumsum, cumprod, logcumsumexp.
#pragma once

#include "writer/fused/reduction_rules.hpp"

namespace cudal1 {

void add_scan_rules(OperatorRules& rules);

}  // namespace cudal1
