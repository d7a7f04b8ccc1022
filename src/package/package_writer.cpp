#include "package/package_writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.hpp"
#include "bridge/bridge_process.hpp"
#include "compile/program_headers.hpp"
#include "package/package_format.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;  // the order of keys in arguments and results is part of how a module is called

void write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  write_file_atomically(path, bytes);
}

void copy_file_to(const fs::path& from, const fs::path& to) { write(to, read_file(from)); }

Json interface_of(const Task& task) {
  const fs::path file = task.folder / "interface.json";
  if (!fs::exists(file))
    throw Error(fmt::format("{} was not made from a PyTorch module, so there is no module to stand in for",
                            task.folder.string()));
  return Json::parse(read_file(file));
}

//! The name of a type that a package cannot rebuild, somewhere in this structure (python/cudal1_bridge/interface.py).
std::optional<std::string> unknown_type(const Json& structure) {
  if (structure.contains("other")) return structure.at("other").get<std::string>();
  const auto entry = structure.begin();
  const Json& parts = structure.contains("named") ? entry->at("parts") : *entry;
  if (!parts.is_structured()) return std::nullopt;
  for (const Json& part : parts)
    if (auto found = unknown_type(part)) return found;
  return std::nullopt;
}

//! States and weights go by their `state_dict` paths in a package, whatever the task calls them.
void name_by_path(const Task& task, std::vector<PackagedLeaf>& leaves) {
  for (PackagedLeaf& leaf : leaves)
    for (const LeafSource& source : task.leaves)
      if (source.value == leaf.value && !source.file_key.empty()) leaf.name = source.file_key;
}

void mark_constants(const Task& task, std::vector<PackagedLeaf>& weights) {
  const Json interface = interface_of(task);
  const Json& constants = interface.at("constants");
  for (PackagedLeaf& weight : weights)
    weight.is_constant = std::ranges::find(constants, Json(weight.name)) != constants.end();
}

PackagedPlan packaged_program(const ProgramContents& program, const std::string& folder) {
  const auto symbols =
      program.images.empty() ? std::map<std::string, std::string>{} : program.images.begin()->second.symbols;
  PackagedPlan made = packaged(program.task, program.plan, symbols);
  made.sizes = program.sizes;
  made.folder = folder;
  name_by_path(program.task, made.weights);
  name_by_path(program.task, made.states);
  mark_constants(program.task, made.weights);
  return made;
}

//! Each has its own, unless there is only one.
std::string folder_of(const PackageContents& contents, std::size_t index) {
  if (contents.programs.size() == 1) return "";
  std::string name = contents.programs[index].sizes.empty() ? "own" : contents.programs[index].sizes;
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
  return fmt::format("sizes/{}_{}", index, name);
}

//! The module is constructed once and called in one way, whatever the sizes.
void check_same_interface(const Json& first, const Json& other, const std::string& sizes) {
  using Difference = std::pair<const char*, const char*>;
  for (const auto& [key, what] :
       {Difference{"positional", "is called differently"}, Difference{"named", "is called differently"},
        Difference{"outputs", "gives other results"}, Difference{"construction", "is constructed differently"},
        Difference{"parts", "has other parts or attributes"}, Difference{"ties", "shares other weights"}})
    if (first.at(key) != other.at(key)) throw Error(fmt::format("with sizes {} the module {}", sizes, what));
}

//! Constants of the graph belong to each program; all else is the module's.
void check_same_weights(const std::vector<PackagedLeaf>& first, const PackagedPlan& other) {
  for (const std::vector<PackagedLeaf>* leaves : {&other.weights, &other.states})
    for (const PackagedLeaf& leaf : *leaves) {
      const auto same_name = [&](const PackagedLeaf& candidate) { return candidate.name == leaf.name; };
      const auto found = std::ranges::find_if(first, same_name);
      if (leaf.is_constant || found == first.end() || found->meta == leaf.meta) continue;
      throw Error(fmt::format("with sizes {} its weight {} is {}, not {}: one set of weights must serve all sizes",
                              other.sizes, leaf.name, to_string(leaf.meta), to_string(found->meta)));
    }
}

Json description(const PackageContents& contents) {
  Json json = format_json();
  const Json interface = interface_of(contents.programs.front().task);
  std::vector<PackagedLeaf> first_weights;
  for (std::size_t i = 0; i < contents.programs.size(); ++i) {
    const PackagedPlan made = packaged_program(contents.programs[i], folder_of(contents, i));
    if (i == 0) {
      first_weights = made.weights;
      first_weights.insert(first_weights.end(), made.states.begin(), made.states.end());
    }
    check_same_interface(interface, interface_of(contents.programs[i].task), made.sizes);
    check_same_weights(first_weights, made);
    json["programs"].push_back(Json(to_json(made)));
  }
  json["task"] = contents.programs.front().task.name;
  json["interface"] = interface;
  json["original"] = contents.module.filename().string();
  json["built_for"] = {{"torch", CUDAL1_TORCH_VERSION}, {"python", CUDAL1_PYTHON_VERSION}};
  return json;
}

//! The module and what it imports from beside it.
void copy_original(const PackageContents& contents, const fs::path& folder) {
  const fs::path module = fs::absolute(contents.module).lexically_normal();
  const fs::path& task = contents.programs.front().task.folder;
  copy_file_to(task / "source.py", folder / module.filename());
  const Json imports = Json::parse(read_file(task / "imports.json"));
  for (const auto& [path, hash] : imports.items())
    copy_file_to(path, folder / fs::path(path).lexically_relative(module.parent_path()));
}

void write_program(const ProgramContents& program, const fs::path& folder) {
  write(folder / "program.cu", program.program);
  for (const auto& [target, image] : program.images) write(folder / "cubins" / (target + ".cubin"), image.binary);
  if (const fs::path constants = program.task.folder / "constants.safetensors"; fs::exists(constants))
    copy_file_to(constants, folder / "constants.safetensors");
}

void write_headers(const PackageContents& contents, const fs::path& folder) {
  if (std::ranges::all_of(contents.programs, [](const ProgramContents& program) { return program.images.empty(); }))
    return;
  for (const auto& [name, text] : read_program_headers(program_include_directory())) write(folder / name, text);
}

//! For users without Python: a header, a library, the weights as they were when this was exported, an example.
void write_cpp(const PackageContents& contents, const fs::path& folder) {
  const auto light = [](const ProgramContents& program) { return runs_without_library(program.plan); };
  const bool needs_torch = !std::ranges::all_of(contents.programs, light);
  const fs::path library = executable_directory() / (needs_torch ? "libcudal1_model_torch.so" : "libcudal1_model.so");
  copy_file_to(library, folder / "libcudal1_model.so");
  for (const char* file : {"cudal1_model.hpp", "example.cpp", "CMakeLists.txt"})
    copy_file_to(bridge_directory() / "cudal1_exported/cpp" / file, folder / file);
  const fs::path weights = contents.programs.front().task.folder / "weights.safetensors";
  if (fs::exists(weights)) fs::copy_file(weights, folder / "weights.safetensors");
}

void write_contents(const PackageContents& contents, const fs::path& folder) {
  const fs::path python = bridge_directory();
  for (const char* file : {"__init__.py", "model.py"}) copy_file_to(python / "cudal1_exported" / file, folder / file);
  for (const char* file : {"safetensors_file.py", "likeness.py"})
    copy_file_to(python / "cudal1_bridge" / file, folder / file);
  write(folder / "package.json", description(contents).dump(1));
  copy_original(contents, folder / "original");
  for (std::size_t i = 0; i < contents.programs.size(); ++i)
    write_program(contents.programs[i], folder / folder_of(contents, i));
  write_headers(contents, folder / "headers");
  const fs::path native = executable_directory() / "_cudal1_native.so";
  if (!fs::exists(native))
    throw Error("the native part of packages was not built: it needs Python's headers (python3-dev)");
  copy_file_to(native, folder / "_cudal1_native.so");
  write_cpp(contents, folder / "cpp");
}

}  // namespace

void check_interface(const Task& task) {
  const Json interface = interface_of(task);
  if (const std::string reason = interface.value("no_package", ""); !reason.empty())
    throw Error(fmt::format("{}: {}", task.name, reason));
  if (const auto type = unknown_type(interface.at("outputs")))
    throw Error(
        fmt::format("{}: forward returns a {}, which a package cannot rebuild: tensors, tuples, lists, dicts and "
                    "named tuples of the file's own can be returned",
                    task.name, *type));
  std::vector<Json> arguments = interface.at("positional");
  for (const Json& structure : interface.at("named")) arguments.push_back(structure);
  for (const Json& structure : arguments)
    if (const auto type = unknown_type(structure))
      throw Error(
          fmt::format("{}: forward takes a {}, which a package cannot compare with another one", task.name, *type));
}

void write_package(const PackageContents& contents, const fs::path& folder) {
  const fs::path target = fs::absolute(folder).lexically_normal();
  if (fs::exists(target)) throw Error(fmt::format("{} is already there", folder.string()));
  fs::create_directories(target.parent_path());
  const fs::path unfinished = target.parent_path() / fmt::format(".{}.{}", target.filename().string(), ::getpid());
  try {
    write_contents(contents, unfinished);
    fs::rename(unfinished, target);
  } catch (const std::exception& problem) {
    remove_folder(unfinished);
    throw Error(fmt::format("{}: {}", folder.string(), problem.what()));
  }
}

}  // namespace cudal1
