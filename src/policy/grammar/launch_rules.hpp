// Rules of what programs with CUDA code of their own need: kernels, groups, launches, buffers, expressions, code.
#pragma once

#include <string>

#include "graph/op_graph.hpp"
#include "policy/grammar/gbnf_text.hpp"

namespace cudal1 {

//! Adds `kernel-line`, `group-lines`, `buffer-line` and `prepare-line`, without `//! ` in front and the newline behind.
//! `replaced`: the name of the rule for what stands behind `replaces`. Names of buffers are any identifiers, since the
//! program declares them itself.
void add_launch_rules(GbnfText& grammar, const OpGraph& graph, const std::string& replaced);

//! Adds `code-line`: a line that is no directive, with those that it is continued on by `\`, without the newline
//! behind.
void add_code_rules(GbnfText& grammar);

}  // namespace cudal1
