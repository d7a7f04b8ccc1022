// The grammar of programs for one task, as GBNF: what `//!` lines can say there.
#pragma once

#include <string>

#include "graph/op_graph.hpp"

namespace cudal1 {

struct DirectiveGrammarOptions {
  //! CUDA code, and the directives that run kernels of it, besides those of the writer.
  bool with_code = false;
  //! The program without any line is one of them.
  bool may_be_empty = true;
  //! Answers instead of programs: a line `Analysis: …` with any text, then the program.
  bool with_analysis = false;
  //! Combinations of rewriting techniques that are tried; nodes that these add can be named then, besides those that
  //! each technique adds alone and all do together.
  int most_combinations = 32;
};

//! Every text of it parses as a program (its status is never parse_error); the graph may still rule it out. Lines have
//! one form only, that of docs/program.md with single spaces; parameters of `fuse` stand in the order of the manual or
//! of the alphabet. The graph must have its metas.
std::string directive_grammar(const OpGraph& graph, const DirectiveGrammarOptions& options = {});

}  // namespace cudal1
