// Losses, as terms.
#pragma once

#include "writer/fused/reduction_rules.hpp"

namespace cudal1 {

//! As operators have it in their argument `reduction`.
enum class LossReduction { none = 0, mean = 1, sum = 2 };

void add_loss_rules(OperatorRules& rules);

}  // namespace cudal1
