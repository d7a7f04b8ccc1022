#include "package/package.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/files.hpp"

namespace cudal1 {
namespace {

using Json = nlohmann::json;

bool takes_tensors_only(const Json& interface) {
  if (!interface.at("named").empty()) return false;
  for (const Json& structure : interface.at("positional"))
    if (!structure.contains("tensor")) return false;
  return true;
}

std::shared_ptr<Package> read_package(const std::filesystem::path& folder) try {
  const Json json = Json::parse(read_file(folder / "package.json"));
  check_format(json);
  auto package = std::make_shared<Package>();
  for (const Json& program : json.at("programs")) {
    PackagedPlan packaged = packaged_plan_from_json(program);
    KernelImages kernels(folder, packaged.folder, packaged.symbols);
    package->programs.push_back(
        std::unique_ptr<PackagedProgram>(new PackagedProgram{std::move(packaged), std::move(kernels)}));
  }
  const Json& interface = json.at("interface");
  package->takes_tensors_only = takes_tensors_only(interface);
  package->returns_one_tensor = interface.at("outputs").contains("tensor");
  return package;
} catch (const Json::exception& problem) {
  throw Error(fmt::format("{}: {}", (folder / "package.json").string(), problem.what()));
}

}  // namespace

std::shared_ptr<Package> open_package(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Package>> opened;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Package>& package = opened[folder.string()];
  if (!package) package = read_package(folder);
  return package;
}

}  // namespace cudal1
