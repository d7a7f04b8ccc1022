// The same program in its other form: the CUDA that the writer makes of it, as a text that needs no writer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! Kernels and the directives that launch them in place of `fuse`, without comments and indents; lines that rewrite the
//! graph stay, since kernels name what these make. Nothing: the program has more in it than a proposal
//! (policy/search/proposal.hpp), or the writer refuses it.
std::optional<std::string> written_out(const OpGraph& graph, std::string_view program);

}  // namespace cudal1
