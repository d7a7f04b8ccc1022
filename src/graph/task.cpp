#include "graph/task.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "graph/graph_json.hpp"
#include "graph/json_place.hpp"
#include "graph/leaf_json.hpp"
#include "graph/safetensors.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t format_version = 1;
constexpr std::size_t max_graph_bytes = std::size_t{64} << 20;

void check_format(const JsonPlace& root) {
  if (!root.json().is_object()) root.fail("expected an object");
  if (root.at("format").text() != "cudal1.graph") root.at("format").fail("expected \"cudal1.graph\"");
  const std::int64_t version = root.at("version").integer();
  if (version != format_version)
    root.at("version").fail(fmt::format("version {}; this build reads {}", version, format_version));
}

//! A plain file name: a task folder must not reach outside itself.
std::filesystem::path read_file_name(const JsonPlace& root, const std::string& key,
                                     const std::filesystem::path& folder) {
  const auto place = root.find(key);
  if (!place) return {};
  const std::filesystem::path name = place->text();
  if (name.empty() || name != name.filename() || name == "." || name == "..")
    place->fail("expected the name of a file beside graph.json");
  return folder / name;
}

void check_stored_leaf(const JsonPlace& root, const Task& task, const LeafSource& leaf, const SafetensorsFile& file,
                       const std::filesystem::path& path) {
  const Value& value = task.graph.values[leaf.value];
  const StoredTensor* stored = file.find(leaf.file_key);
  if (!stored) root.fail(fmt::format("{} has no tensor \"{}\"", path.string(), leaf.file_key));
  if (stored->meta.dtype != value.meta.dtype || stored->meta.sizes != value.meta.sizes)
    root.fail(fmt::format("\"{}\" is {}, but {} holds {}", value.name, to_string(value.meta), path.string(),
                          to_string(stored->meta)));
}

void check_stored_leaves(const JsonPlace& root, const Task& task, const SafetensorsFile* file,
                         const std::filesystem::path& path) {
  for (const LeafSource& leaf : task.leaves) {
    if (leaf.file_key.empty()) continue;
    if (!file)
      root.fail(fmt::format("\"{}\" has a key, but there is no \"weights_file\"", task.graph.values[leaf.value].name));
    check_stored_leaf(root, task, leaf, *file, path);
  }
}

//! Reads nothing but inputs, since inputs depend on nothing else.
std::optional<InputRecipe> read_input_recipe(const JsonPlace& root) {
  const auto place = root.find("input_graph");
  if (!place) return std::nullopt;
  place->allow_keys({"inputs", "nodes", "outputs"});
  InputRecipe recipe;
  read_graph(*place, recipe.graph, recipe.leaves);
  for (const LeafSource& leaf : recipe.leaves)
    if (leaf.recipe_output >= 0) place->fail("its own inputs are drawn, not computed");
  return recipe;
}

void check_recipe_outputs(const JsonPlace& root, const Task& task) {
  const int offered = task.input_recipe ? static_cast<int>(task.input_recipe->graph.outputs.size()) : 0;
  for (const LeafSource& leaf : task.leaves)
    if (leaf.recipe_output >= offered)
      root.fail(fmt::format("\"{}\" is output {} of an input_graph with {}", task.graph.values[leaf.value].name,
                            leaf.recipe_output, offered));
}

using WeightFiles = std::vector<std::unique_ptr<SafetensorsFile>>;

//! Opens the weights and their fresh values, if there are any, and checks both.
WeightFiles read_weights(const JsonPlace& root, const std::filesystem::path& folder, Task& task) {
  task.weights_file = read_file_name(root, "weights_file", folder);
  task.fresh_weights_file = read_file_name(root, "fresh_weights_file", folder);
  if (task.weights_file.empty()) {
    if (!task.fresh_weights_file.empty()) root.at("fresh_weights_file").fail("there is no \"weights_file\"");
    check_stored_leaves(root, task, nullptr, {});
  }
  WeightFiles files;
  for (const std::filesystem::path& path : {task.weights_file, task.fresh_weights_file}) {
    if (path.empty()) continue;
    files.push_back(std::make_unique<SafetensorsFile>(path));
    check_stored_leaves(root, task, files.back().get(), path);
  }
  return files;
}

//! nlohmann keeps keys sorted, so the dump does not depend on how the file was written.
std::string identity_of(nlohmann::json document, const WeightFiles& files) {
  document.erase("description");
  Sha256 hash;
  hash.add_field(document.dump());
  for (const auto& file : files) hash.add_field(file->file_bytes());
  return hash.hex();
}

Task parse_task_file(std::string_view text, const std::filesystem::path& folder, const std::string& file) {
  const nlohmann::json document = parse_json(text, file);
  const JsonPlace root(document, file);
  check_format(root);
  root.allow_keys({"format", "version", "name", "description", "weights_file", "fresh_weights_file", "input_graph",
                   "inputs", "weights", "state", "nodes", "outputs", "degenerate"});
  Task task;
  task.name = root.at("name").text();
  check_name(root.at("name"), task.name, true);
  if (const auto description = root.find("description")) task.description = description->text();
  if (const auto mark = root.find("degenerate")) task.degenerate = mark->boolean();
  task.folder = folder;
  task.source_text = text;
  const JsonPlace nodes = root.at("nodes");
  nodes.expect_array();
  if (nodes.size() == 0) nodes.fail("a graph needs at least one node");  // that of inputs needs none
  read_graph(root, task.graph, task.leaves);
  task.input_recipe = read_input_recipe(root);
  check_recipe_outputs(root, task);
  task.hash = identity_of(document, read_weights(root, folder, task));
  return task;
}

}  // namespace

std::filesystem::path graph_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? path / "graph.json" : path;
}

Task load_task(const std::filesystem::path& path) {
  const std::filesystem::path file = graph_file(path);
  return parse_task_file(read_file(file, max_graph_bytes), file.parent_path(), file.string());
}

Task parse_task(std::string_view graph_json, const std::filesystem::path& folder) {
  return parse_task_file(graph_json, folder, (folder / "graph.json").string());
}

}  // namespace cudal1
