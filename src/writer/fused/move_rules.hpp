// Operators that move elements without computing, or make them of their indices alone.
#pragma once

#include "writer/fused/reduction_rules.hpp"

namespace cudal1 {

//! cat, stack, pad, flip, roll, repeat, embedding, index_select, upsample_nearest, pixel_shuffle …
void add_move_rules(OperatorRules& rules);

//! full, arange, eye, one_hot …
void add_constant_rules(OperatorRules& rules);

}  // namespace cudal1
