// A program while it is being written: the graph as it stands, which nodes are taken, and the text that was added.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/op_graph.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! One launch of a kernel that the writer made.
struct WrittenLaunch {
  std::string kernel;
  Dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::int64_t shared_bytes = 0;
  std::vector<std::string> arguments;  //!< as in `args=`: names of tensors, quoted where needed, or typed numbers
};

//! Scratch memory of a group.
struct WrittenBuffer {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> sizes;
  bool zero = false;
};

//! Kernels that take the place of some nodes.
struct WrittenGroup {
  std::vector<WrittenBuffer> buffers;
  std::vector<WrittenLaunch> launches;
  std::set<std::string> headers;  //!< "cudal1/vector.cuh"
  std::string code;
  //! What was chosen, by the directive or where that says nothing, of parameters that mean something here. Said, they
  //! give the same kernels; but a number that a technique chose by itself need not be among the choices.
  std::map<std::string, std::string> parameters = {};
};

//! The second's launches come after the first's; the parameters are those of the first.
WrittenGroup joined(WrittenGroup first, const WrittenGroup& second);

//! How directives name a value.
std::string directive_name(const Value& value);

//! How code names a value: its name with everything that C++ does not allow replaced.
std::string code_name(const std::string& name);

class Draft {
 public:
  //! `words`: that the program's own code uses; names of kernels and buffers must not be among them.
  Draft(OpGraph graph, std::set<std::string> words);

  OpGraph graph;

  //! Throws Rejection at `at` if the node is taken already.
  void take_node(int node, const std::string& by, SourcePosition at);
  //! "'fuse' in line 3": what has replaced the node of this name; nothing: it is free.
  std::optional<std::string> taken_by(const std::string& node) const;
  //! Throws Rejection at the word of a rewrite that has taken away a node which some line had replaced.
  void check_taken_nodes(std::string_view word, SourcePosition at) const;
  //! The node of this name runs when weights change, not in a call.
  void hoist(const std::string& node) { hoisted_.insert(node); }
  bool is_hoisted(const std::string& node) const { return hoisted_.contains(node); }
  const std::set<std::string>& hoisted() const { return hoisted_; }
  //! This name, or with something behind it if it is in use.
  std::string unused_name(const std::string& wish);
  void add_group(const std::string& name, const std::set<int>& nodes, const WrittenGroup& group,
                 const std::string& origin);
  //! Lines of groups so far.
  int line_count() const { return static_cast<int>(std::ranges::count(text_, '\n')); }
  //! Directives and code that go behind the program's text.
  std::string text() const;

 private:
  struct Taken {
    std::string by;
    int line = 0;
  };
  std::string shared_code(const std::string& name, const WrittenGroup& group);

  std::map<std::string, std::string> code_;  //!< without names: the first group that has it
  std::map<std::string, Taken> taken_;       //!< by name: rewrites move nodes
  std::set<std::string> words_, headers_, hoisted_;
  std::string text_;
};

}  // namespace cudal1
