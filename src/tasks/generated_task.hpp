// Tasks to train on (docs/generated_tasks.md): random modules in the style of real ones, each as Python text and as a
// task, made without Python. The same seed gives the same tasks on every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/families.hpp"

namespace cudal1 {

//! What a task may be used for. It depends on the task's hash alone.
enum class TaskSplit { train, validation, test };

std::string_view to_string(TaskSplit split);
std::optional<TaskSplit> task_split_from_string(std::string_view name);
//! 74 of 100 train, 8 validate, 18 test.
TaskSplit split_of_hash(std::string_view hash);

struct GeneratedTask {
  std::string name;  //!< family and hash: "product_3f9a02c41b7e"
  std::string family;
  std::string hash;  //!< of the graph without its names (nameless_form.hpp): what is one task has one hash
  TaskSplit split = TaskSplit::train;
  double difficulty = 0.0;
  std::size_t nodes = 0;
  std::string graph_json;
  std::string module_text;  //!< Python: Model, get_inputs, get_init_inputs
};

//! One module of this family.
GeneratedTask generate_task(const ModuleFamily& family, Choices choices);

struct GenerationOptions {
  std::size_t count = 0;
  std::uint64_t seed = 0;
  std::optional<double> difficulty;        //!< 0 to 1; nothing: every task draws its own
  std::optional<TaskSplit> split;          //!< nothing: all of them
  std::vector<std::string> families = {};  //!< by name; empty: all
  //! Whether a task is wanted, say because its reference takes neither too long nor too short; nothing: all are.
  std::function<bool(const GeneratedTask&)> accept;
};

//! No two with the same hash. The families take turns, also where `accept` takes few of one. Throws Error when it finds
//! no further task in very many attempts, and for a family that is not there.
std::vector<GeneratedTask> generate_tasks(const GenerationOptions& options);

//! Makes a folder with graph.json and source.py in `folder`. A task that lies there already is replaced; anything else
//! stays, and Error is thrown.
std::filesystem::path write_generated_task(const GeneratedTask& task, const std::filesystem::path& folder);

}  // namespace cudal1
