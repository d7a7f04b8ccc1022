#include "bridge/module_task.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "bridge/task_cache.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_source_bytes = std::size_t{64} << 20;
constexpr std::uintmax_t max_cache_bytes = std::uintmax_t{20} << 30;
constexpr std::chrono::minutes export_limit{30};

std::string variable_or(const char* name, const std::string& otherwise) {
  const char* given = std::getenv(name);
  return given && *given ? given : otherwise;
}

//! The folder that holds the package cudal1_bridge.
fs::path bridge_directory() {
  const fs::path folder = variable_or("CUDAL1_BRIDGE_DIR", CUDAL1_BRIDGE_DIR_AT_BUILD);
  std::error_code problem;
  if (!fs::is_directory(folder / "cudal1_bridge", problem))
    throw Error(
        fmt::format("the Python bridge is not in {}; set CUDAL1_BRIDGE_DIR to the folder that has "
                    "cudal1_bridge in it",
                    folder.string()));
  return folder;
}

std::string key_of(const fs::path& module, const std::string& source, const fs::path& bridge) {
  Sha256 hash;
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

ChildOptions bridge_call(const fs::path& module, const fs::path& bridge, const fs::path& folder, int messages) {
  ChildOptions child;
  const std::string python = variable_or("CUDAL1_PYTHON", "/usr/bin/python3");
  child.arguments = {python, "-m", "cudal1_bridge", fs::absolute(module).string(), "-o", folder.string()};
  child.environment = minimal_environment();
  const std::string given = variable_or("PYTHONPATH", "");
  child.environment.emplace_back("PYTHONPATH", fmt::format("{}{}{}", bridge.string(), given.empty() ? "" : ":", given));
  child.environment.emplace_back("PYTHONDONTWRITEBYTECODE", "1");
  child.descriptors = {{messages, 1}, {messages, 2}};
  return child;
}

//! The line that is for the user: ours, else the last one, which is where Python names an exception.
std::string reason_in(const std::string& messages) {
  std::string_view last;
  for (std::size_t begin = 0; begin < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', begin), messages.size());
    const std::string_view line = std::string_view(messages).substr(begin, end - begin);
    constexpr std::string_view ours = "cudal1: ";
    if (line.starts_with(ours)) return std::string(line.substr(ours.size()));
    if (!line.empty()) last = line;
    begin = end + 1;
  }
  return last.empty() ? "the Python bridge failed without a word" : std::string(last);
}

void export_module(const fs::path& module, const fs::path& bridge, const fs::path& folder) {
  const TemporaryFolder scratch;
  const fs::path log = scratch.path() / "messages";
  const UniqueFd messages(open(log.c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600));
  ChildProcess child = ChildProcess::start(bridge_call(module, bridge, folder, messages.get()));
  const auto ended = child.wait_for(std::chrono::duration_cast<std::chrono::milliseconds>(export_limit));
  if (!ended) {
    child.kill();
    throw Error(fmt::format("{}: the export took more than {} minutes", module.string(), export_limit.count()));
  }
  if (!ended->exited) throw Error(fmt::format("{}: Python was ended by signal {}", module.string(), ended->code));
  if (ended->code != 0) throw Error(reason_in(read_file(log, max_source_bytes)));
}

}  // namespace

bool is_module_file(const fs::path& path) { return path.extension() == ".py"; }

fs::path task_of_module(const fs::path& module) {
  const std::string source = read_file(module, max_source_bytes);
  const fs::path bridge = bridge_directory();
  const TaskCache cache(cache_directory() / "tasks");
  return cache.get(key_of(module, source, bridge), imports_are_unchanged, [&](const fs::path& folder) {
    export_module(module, bridge, folder);
    cache.shrink_to(max_cache_bytes);  // only when something came in: it looks at every file
  });
}

}  // namespace cudal1
