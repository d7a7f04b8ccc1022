#include "bridge/module_task.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "bridge/bridge_process.hpp"
#include "bridge/task_cache.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_source_bytes = std::size_t{64} << 20;
constexpr std::uintmax_t max_cache_bytes = std::uintmax_t{20} << 30;

std::string key_of(const fs::path& module, const std::string& sizes, const std::string& source,
                   const fs::path& bridge) {
  Sha256 hash;
  hash.add_field(sizes);
  hash.add_field(fs::absolute(module).lexically_normal().string()).add_field(source);
  for (const fs::path& file : files_below(bridge / "cudal1_bridge"))
    if (file.extension() == ".py") hash.add_field(read_file(file, max_source_bytes));
  return hash.hex();
}

//! The bridge lists what the module imported from beside it, with the hash that it had then.
bool imports_are_unchanged(const fs::path& folder) try {
  const auto imports = nlohmann::json::parse(read_file(folder / "imports.json", max_source_bytes));
  for (const auto& [path, hash] : imports.items())
    if (sha256_hex(read_file(path, max_source_bytes)) != hash.get<std::string>()) return false;
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace

bool is_module_file(const fs::path& path) { return path.extension() == ".py"; }

fs::path task_of_module(const fs::path& module, const std::string& sizes) {
  const std::string source = read_file(module, max_source_bytes);
  const fs::path bridge = bridge_directory();
  const TaskCache cache(cache_directory() / "tasks");
  return cache.get(key_of(module, sizes, source, bridge), imports_are_unchanged, [&](const fs::path& folder) {
    std::vector<std::string> arguments{fs::absolute(module).string(), "-o", folder.string()};
    if (!sizes.empty()) arguments.insert(arguments.end(), {"--sizes", sizes});
    run_bridge("cudal1_bridge", arguments, module.string(), folder);
    cache.shrink_to(max_cache_bytes);  // only when something came in: it looks at every file
  });
}

}  // namespace cudal1
