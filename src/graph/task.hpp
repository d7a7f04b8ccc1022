#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! How the elements of a leaf are drawn.
struct Draw {
  enum class Kind { normal, uniform, integers, bernoulli, constant } kind = Kind::normal;
  double a = 0.0;  //!< normal: mean; uniform, integers: low; bernoulli: probability; constant: value
  double b = 1.0;  //!< normal: standard deviation; uniform, integers: high (exclusive)
};

//! Where a leaf's values come from: drawn, computed from what is drawn, or read from the weights file.
struct LeafSource {
  ValueId value = -1;
  Draw draw;
  int recipe_output = -1;  //!< not negative: inputs that are this output of the task's input recipe
  std::string file_key;    //!< not empty: this tensor of the weights file
  //! Derived input distributions that would not be valid inputs of this leaf (e.g. "negative" for a variance).
  std::vector<std::string> excluded_distributions;
};

//! Inputs that are more than drawn, such as a triangular matrix or probabilities: how they are computed from leaves
//! that are.
struct InputRecipe {
  OpGraph graph;
  std::vector<LeafSource> leaves;
};

struct Task {
  std::string name;
  std::string description;
  std::filesystem::path folder;
  std::string source_text;  //!< graph.json as read; a policy's prompt shows it
  OpGraph graph;
  std::vector<LeafSource> leaves;  //!< one for every input, weight and state
  std::optional<InputRecipe> input_recipe;
  std::filesystem::path weights_file;        //!< empty: none
  std::filesystem::path fresh_weights_file;  //!< other values of the same tensors; empty: none
  bool degenerate = false;                   //!< marked: its outputs do not depend on its inputs
  std::string hash;                          //!< of the canonical graph and the weights file: the task's identity
};

//! The file that load_task reads.
std::filesystem::path graph_file(const std::filesystem::path& path);

//! Reads `path` (a folder with graph.json, or the file itself). Throws Error: one line with file, place and reason.
//! Node outputs that the file does not declare keep an empty meta; infer_metas (executor.hpp) fills and checks them.
Task load_task(const std::filesystem::path& path);
Task parse_task(std::string_view graph_json, const std::filesystem::path& folder);

}  // namespace cudal1
