// Nodes that draw random numbers. Each draws under a seed made of its name, so that whoever runs the task draws the
// same: the reference, the oracle and every candidate. python/cudal1_bridge/random_nodes.py does so beside us.
#pragma once

#include <cstdint>
#include <string_view>

namespace cudal1 {

//! Operators that draw the same under the same seed whoever calls them, and no more than their results show. The bridge
//! makes all others of these and of arithmetic.
bool draws_repeatably(std::string_view op);

std::uint64_t seed_of_node(std::string_view name);

}  // namespace cudal1
