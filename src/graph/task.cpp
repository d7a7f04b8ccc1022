#include "graph/task.hpp"

#include <fmt/format.h>

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
std::filesystem::path read_weights_file(const JsonPlace& root, const std::filesystem::path& folder) {
  const auto place = root.find("weights_file");
  if (!place) return {};
  const std::filesystem::path name = place->text();
  if (name.empty() || name != name.filename() || name == "." || name == "..")
    place->fail("expected the name of a file beside graph.json");
  return folder / name;
}

void check_stored_leaves(const JsonPlace& root, const Task& task, const SafetensorsFile* file) {
  for (const LeafSource& leaf : task.leaves) {
    if (leaf.file_key.empty()) continue;
    const Value& value = task.graph.values[leaf.value];
    if (!file) root.fail(fmt::format("\"{}\" has a key, but there is no \"weights_file\"", value.name));
    const StoredTensor* stored = file->find(leaf.file_key);
    if (!stored) root.fail(fmt::format("{} has no tensor \"{}\"", task.weights_file.string(), leaf.file_key));
    if (stored->meta.dtype != value.meta.dtype || stored->meta.sizes != value.meta.sizes)
      root.fail(fmt::format("\"{}\" is {}, but {} holds {}", value.name, to_string(value.meta),
                            task.weights_file.string(), to_string(stored->meta)));
  }
}

//! nlohmann keeps keys sorted, so the dump does not depend on how the file was written.
std::string identity_of(nlohmann::json document, const SafetensorsFile* weights) {
  document.erase("description");
  Sha256 hash;
  hash.add_field(document.dump());
  if (weights) hash.add_field(weights->file_bytes());
  return hash.hex();
}

Task parse_task_file(std::string_view text, const std::filesystem::path& folder, const std::string& file) {
  const nlohmann::json document = parse_json(text, file);
  const JsonPlace root(document, file);
  check_format(root);
  root.allow_keys(
      {"format", "version", "name", "description", "weights_file", "inputs", "weights", "state", "nodes", "outputs"});
  Task task;
  task.name = root.at("name").text();
  check_name(root.at("name"), task.name, true);
  if (const auto description = root.find("description")) task.description = description->text();
  task.folder = folder;
  task.source_text = text;
  read_graph(root, task);
  task.weights_file = read_weights_file(root, folder);
  std::optional<SafetensorsFile> weights;
  if (!task.weights_file.empty()) weights.emplace(task.weights_file);
  check_stored_leaves(root, task, weights ? &*weights : nullptr);
  task.hash = identity_of(document, weights ? &*weights : nullptr);
  return task;
}

}  // namespace

Task load_task(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::is_directory(path, ignored) ? path / "graph.json" : path;
  return parse_task_file(read_file(file, max_graph_bytes), file.parent_path(), file.string());
}

Task parse_task(std::string_view graph_json, const std::filesystem::path& folder) {
  return parse_task_file(graph_json, folder, (folder / "graph.json").string());
}

}  // namespace cudal1
