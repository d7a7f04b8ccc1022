// Operators that look at windows of an argument, as terms: pooling and convolution.
#pragma once

#include "writer/fused/reduction_rules.hpp"

namespace cudal1 {

void add_pooling_rules(OperatorRules& rules);
void add_convolution_rules(OperatorRules& rules);

//! Pooling to one element, by windows as large as the argument: a reduction over whole dimensions.
bool pools_everything(const OpGraph& graph, const Node& node);

//! Input channels that an element of the result is made of; 0: it is no convolution.
std::int64_t channels_of_a_group(const OpGraph& graph, const Node& node);

}  // namespace cudal1
