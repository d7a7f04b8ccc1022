// Directive lines -> statements. Names are resolved and expressions worked out here; whether the statements fit
// together is the planner's business.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "program/node_names.hpp"
#include "program/plan.hpp"
#include "program/source_scan.hpp"
#include "program/tensor_scope.hpp"

namespace cudal1 {

struct LaunchArgument {
  std::variant<TensorTerm, ScalarArgument> content;
  SourcePosition at;
};

//! `KERNEL : grid= block= shared= cluster= args=`, of `kernel`, `launch` or `prepare`.
struct LaunchDirective {
  std::string kernel;  //!< white space folded: "softmax<256,4>"
  SourcePosition at;   //!< of the kernel's name
  Dim3 grid{1, 1, 1};
  Dim3 block{1, 1, 1};
  std::optional<Dim3> cluster;
  std::int64_t shared_bytes = 0;
  std::vector<LaunchArgument> args;
  SourcePosition args_at;
};

//! Nodes that launches of ours replace.
struct GroupDirective {
  std::string name;
  SourcePosition at;
  std::vector<int> nodes;  //!< indices into OpGraph::nodes, ascending
  std::vector<LaunchDirective> launches;
};

struct ParsedProgram {
  std::deque<BufferDirective> buffers;
  std::vector<GroupDirective> groups;
  std::vector<LaunchDirective> prepares;
  std::vector<NamedNode> hoisted;  //!< these run when weights change, not in a call
  bool cuda_graph = false;
  SourcePosition graph_at;
  int branches = 1;  //!< of the graph
  SourcePosition branches_at;
};

//! Throws Rejection at the first directive that is wrong. `other_names`: of directives that are not the planner's.
ParsedProgram parse_directives(const OpGraph& graph, const std::vector<DirectiveText>& directives,
                               const std::vector<std::string>& other_names = {});

}  // namespace cudal1
