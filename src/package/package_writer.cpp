#include "package/package_writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "bridge/bridge_process.hpp"
#include "compile/program_headers.hpp"
#include "package/package_format.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

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

//! States and weights go by their `state_dict` paths in a package, whatever the task calls them.
void name_by_path(const Task& task, std::vector<PackagedLeaf>& leaves) {
  for (PackagedLeaf& leaf : leaves)
    for (const LeafSource& source : task.leaves)
      if (source.value == leaf.value && !source.file_key.empty()) leaf.name = source.file_key;
}

Json description(const PackageContents& contents) {
  const auto symbols =
      contents.images.empty() ? std::map<std::string, std::string>{} : contents.images.begin()->second.symbols;
  PackagedPlan made = packaged(contents.task, contents.plan, symbols);
  name_by_path(contents.task, made.weights);
  name_by_path(contents.task, made.states);
  Json json = to_json(made);
  json["interface"] = interface_of(contents.task);
  json["original"] = contents.module.filename().string();
  json["built_for"] = {{"torch", CUDAL1_TORCH_VERSION}, {"python", CUDAL1_PYTHON_VERSION}};
  return json;
}

//! The module and what it imports from beside it.
void copy_original(const PackageContents& contents, const fs::path& folder) {
  const fs::path module = fs::absolute(contents.module).lexically_normal();
  copy_file_to(contents.task.folder / "source.py", folder / module.filename());
  const Json imports = Json::parse(read_file(contents.task.folder / "imports.json"));
  for (const auto& [path, hash] : imports.items())
    copy_file_to(path, folder / fs::path(path).lexically_relative(module.parent_path()));
}

void write_kernels(const PackageContents& contents, const fs::path& folder) {
  write(folder / "program.cu", contents.program);
  for (const auto& [target, image] : contents.images) write(folder / "cubins" / (target + ".cubin"), image.binary);
  if (contents.images.empty()) return;
  for (const auto& [name, text] : read_program_headers(program_include_directory()))
    write(folder / "headers" / name, text);
}

void write_contents(const PackageContents& contents, const fs::path& folder) {
  const fs::path python = bridge_directory() / "cudal1_exported";
  for (const char* file : {"__init__.py", "model.py"}) copy_file_to(python / file, folder / file);
  write(folder / "package.json", description(contents).dump(1));
  copy_original(contents, folder / "original");
  write_kernels(contents, folder);
  if (const fs::path constants = contents.task.folder / "constants.pt"; fs::exists(constants))
    copy_file_to(constants, folder / "constants.pt");
  const fs::path native = executable_directory() / "_cudal1_native.so";
  if (!fs::exists(native))
    throw Error("the native part of packages was not built: it needs Python's headers (python3-dev)");
  copy_file_to(native, folder / "_cudal1_native.so");
}

}  // namespace

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
