#include "dialect/solution_task.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/result.hpp"
#include "bridge/module_task.hpp"
#include "graph/random_nodes.hpp"
#include "judge/judge.hpp"

namespace cudal1 {

namespace fs = std::filesystem;

SolutionTask make_solution_task(Task task, fs::path module) {
  if (module.empty()) module = task.folder / "source.py";
  std::error_code problem;
  if (!fs::exists(module, problem) || !fs::exists(task.folder / "interface.json", problem))
    throw Error(fmt::format("{}: solutions in Python need a task that was made from a PyTorch module", task.name));
  for (const Node& node : task.graph.nodes)
    if (draws_repeatably(node.op))
      throw Error(fmt::format("{}: '{}' draws random numbers, which a solution in Python would draw differently",
                              task.name, node.name));
  std::string interface_text = read_file(task.folder / "interface.json");
  return {std::move(task), fs::absolute(module), std::move(interface_text)};
}

SolutionTask load_solution_task(const fs::path& argument) {
  if (!is_module_file(argument)) return make_solution_task(load_task_with_metas(argument), {});
  return make_solution_task(load_task_with_metas(task_of_module(argument)), argument);
}

}  // namespace cudal1
