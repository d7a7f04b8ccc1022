// The writer: a program's text with directives such as `fuse` -> CUDA and the directives that run it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! One directive of the writer that was carried out.
struct AppliedTechnique {
  std::string technique;  //!< its name
  std::string directive;  //!< the line
  SourcePosition at;
  int first_line = 0;  //!< of what was written for it, behind the original's lines; 0: the graph was rewritten
  std::map<std::string, std::string> parameters = {};  //!< as in WrittenGroup (draft.hpp)
};

struct WrittenProgram {
  OpGraph graph;     //!< the task's, rewritten; its values come first, with their ids
  std::string text;  //!< nothing in it is left for the writer; the lines of the original keep their numbers
  std::vector<AppliedTechnique> techniques;
  std::set<std::string> hoisted;  //!< nodes that rewrites have run when weights change
};

//! The graph must have metas for all its values (infer_metas).
Result<WrittenProgram> write_program(const OpGraph& graph, std::string_view text, const ProgramLimits& limits = {});

//! Program text -> Plan: what the writer makes of it, planned.
Result<Plan> plan_program(const OpGraph& graph, std::string_view text, const ProgramLimits& limits = {});

}  // namespace cudal1
