// What an exported package says about its plan: package.json.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "graph/task.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! A leaf of the task whose tensor the caller brings.
struct PackagedLeaf {
  std::string name;  //!< inputs: the argument; weights and states: the `state_dict` path
  TensorMeta meta;
  ValueId value = -1;
  int buffer = -1;           //!< -1: no step reads it
  bool is_constant = false;  //!< no part of the module's state: nobody moves it to where the others are
};

struct PackagedPlan {
  std::string task;
  std::string sizes;   //!< as the user named them; empty: those of the module's own get_inputs
  std::string folder;  //!< of its program, inside the package; empty: the package's own
  Plan plan;
  std::vector<PackagedLeaf> inputs, weights, states;
  std::map<std::string, std::string> symbols;  //!< kernel as written -> symbol in its cubins
};

PackagedPlan packaged(const Task& task, const Plan& plan, const std::map<std::string, std::string>& symbols);

//! Does this plan run without LibTorch? Library steps do not, nor do results that are parts of others.
bool runs_without_library(const Plan& plan);

//! What every package.json begins with.
nlohmann::json format_json();
//! Throws Error when this is not a package, or one of another version.
void check_format(const nlohmann::json& package);

nlohmann::json to_json(const PackagedPlan& packaged);
//! Throws Error when it is none.
PackagedPlan packaged_plan_from_json(const nlohmann::json& json);

}  // namespace cudal1
