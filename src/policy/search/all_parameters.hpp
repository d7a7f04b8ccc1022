// Programs that say every parameter. A line that leaves some to its technique teaches nobody which there are.
#pragma once

#include <optional>
#include <string>

#include "graph/op_graph.hpp"
#include "policy/search/proposal.hpp"

namespace cudal1 {

//! The same plan, with what techniques choose by themselves said, as far as it means something for these nodes. Some
//! choose numbers that no directive can say: these stay open. Nothing: the writer refuses the proposal.
std::optional<Proposal> with_all_parameters(const OpGraph& graph, Proposal proposal);

//! The text of such a program; as it is where it is no proposal, or the writer refuses it.
std::string text_with_all_parameters(const OpGraph& graph, const std::string& text);

//! The same, except that what cannot be said becomes the nearest number that can. Nothing also where that is refused.
std::optional<Proposal> with_nearest_parameters(const OpGraph& graph, Proposal proposal);

}  // namespace cudal1
