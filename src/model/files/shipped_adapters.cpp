#include "model/files/shipped_adapters.hpp"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_base_bytes = 1 << 20;

//! Folders right below this one that have a base.json.
std::set<fs::path> folders_with_base(const fs::path& parent) {
  std::set<fs::path> folders;
  for (const fs::path& file : files_below(parent)) {
    const fs::path folder = file.parent_path();
    if (file.filename() == "base.json" && folder.parent_path() == parent) folders.insert(folder);
  }
  return folders;
}

}  // namespace

fs::path shipped_adapters_directory() {
  const char* given = std::getenv("CUDAL1_ADAPTERS_DIR");
  return given && *given ? given : CUDAL1_ADAPTERS_DIR_AT_BUILD;
}

std::vector<ShippedAdapter> shipped_adapters() {
  std::vector<ShippedAdapter> adapters;
  for (const fs::path& folder : folders_with_base(shipped_adapters_directory())) {
    const auto base = nlohmann::json::parse(read_file(folder / "base.json", most_base_bytes), nullptr, false);
    if (!base.is_object() || !base.value("sha256", nlohmann::json()).is_string()) continue;
    adapters.push_back({folder, base.value("name", std::string()), base["sha256"].get<std::string>()});
  }
  return adapters;
}

const ShippedAdapter* shipped_for(const std::vector<ShippedAdapter>& adapters, std::string_view model_sha256) {
  const ShippedAdapter* found = nullptr;
  for (const ShippedAdapter& adapter : adapters)
    if (adapter.base_sha256 == model_sha256) found = &adapter;
  return found;
}

}  // namespace cudal1
