// Whether nodes can be fused, without writing a program: what a policy asks many times.
#pragma once

#include <set>

#include "writer/technique.hpp"

namespace cudal1 {

//! The technique that fuses these nodes; null where there is none, it refuses them, or others must run in between.
const FusionTechnique* technique_that_fuses(const OpGraph& graph, const std::set<int>& nodes);

//! Throws Rejection at `at` where others must run between these nodes. The planner would find it, too, but in text that
//! the author has not written.
void check_runs_as_one(const OpGraph& graph, const std::set<int>& nodes, SourcePosition at);

//! For each node those that read its results, directly or through views; views themselves have none.
std::vector<std::set<int>> readers_of_nodes(const OpGraph& graph);

}  // namespace cudal1
