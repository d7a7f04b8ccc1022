// Reads the leaves of graph.json: inputs, weights and states, and how their elements are drawn.
#pragma once

#include <vector>

#include "graph/json_place.hpp"
#include "graph/task.hpp"

namespace cudal1 {

//! The names that "exclude" may list: every distribution of inputs.hpp but the native one.
const std::vector<std::string_view>& derived_distribution_names();

//! Letters, digits and underscores, not starting with a digit; `dots` allows the paths of a state_dict ("0.weight").
void check_name(const JsonPlace& place, const std::string& name, bool dots);

//! A leaf of this kind and where its values come from; `value` of the source is left to the caller.
std::pair<Value, LeafSource> read_leaf(const JsonPlace& place, ValueKind kind);

}  // namespace cudal1
