#include "runner/bubblewrap.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/child_process.hpp"
#include "base/files.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> find_bubblewrap() {
  std::vector<fs::path> candidates{executable_directory() / "bwrap", "/usr/bin/bwrap", "/usr/local/bin/bwrap"};
  if (const char* named = std::getenv("CUDAL1_BWRAP")) candidates.insert(candidates.begin(), named);
  for (const fs::path& path : candidates)
    if (::access(path.c_str(), X_OK) == 0) return path;
  return std::nullopt;
}

//! Folders that are empty for the child but for what is put there.
std::vector<fs::path> emptied_folders() {
  std::vector<fs::path> folders{"/tmp"};
  std::error_code missing;
  const char* home = std::getenv("HOME");
  if (const fs::path real = fs::canonical(home ? home : "", missing); fs::is_directory(real, missing) && real != "/")
    folders.push_back(real);
  return folders;
}

bool lies_below(const fs::path& path, const std::vector<fs::path>& folders) {
  return std::ranges::any_of(
      folders, [&](const fs::path& folder) { return std::ranges::mismatch(folder, path).in1 == folder.end(); });
}

//! Each at its real place: nothing can be put where a link is. What leads there by links is found as ever, unless the
//! links lie in an emptied folder: then it is put at the place that they name, too.
void show(const std::vector<fs::path>& visible, std::vector<std::string>& arguments) {
  const std::vector<fs::path> emptied = emptied_folders();
  std::vector<fs::path> shown;
  for (const fs::path& path : visible) {
    std::error_code missing;
    const fs::path real = fs::canonical(path, missing);
    if (missing) continue;
    arguments.insert(arguments.end(), {"--ro-bind", real.string(), real.string()});
    if (real != path && lies_below(path, emptied) && !lies_below(path, shown))
      arguments.insert(arguments.end(), {"--ro-bind", real.string(), path.string()});
    shown.insert(shown.end(), {path, real});
  }
}

//! Read-only system, no network, empty home and temporary folders. The CUDA driver does not start unless it can write
//! below /proc (its threads name themselves there).
std::vector<std::string> arguments_for(const fs::path& bubblewrap, const std::vector<fs::path>& visible) {
  std::vector<std::string> arguments{bubblewrap.string(),
                                     "--die-with-parent",
                                     "--unshare-net",
                                     "--unshare-ipc",
                                     "--unshare-uts",
                                     "--ro-bind",
                                     "/",
                                     "/",
                                     "--dev-bind",
                                     "/dev",
                                     "/dev",
                                     "--bind",
                                     "/proc",
                                     "/proc"};
  for (const fs::path& folder : emptied_folders()) arguments.insert(arguments.end(), {"--tmpfs", folder.string()});
  show(visible, arguments);
  return arguments;
}

bool try_bubblewrap() {
  const auto bubblewrap = find_bubblewrap();
  if (!bubblewrap) return false;
  ChildOptions options;
  options.arguments = arguments_for(*bubblewrap, {});
  options.arguments.push_back("/bin/true");
  options.environment = minimal_environment();
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  options.descriptors = {{nothing.get(), 0}, {nothing.get(), 1}, {nothing.get(), 2}};
  const auto exit = ChildProcess::start(options).wait_for(std::chrono::seconds(5));
  return exit && exit->exited && exit->code == 0;
}

}  // namespace

bool bubblewrap_works() {
  static const bool works = std::getenv("CUDAL1_NO_BWRAP") == nullptr && try_bubblewrap();
  return works;
}

std::vector<std::string> bubblewrap_arguments(const std::vector<fs::path>& visible,
                                              const std::vector<fs::path>& writable) {
  std::vector<std::string> arguments = arguments_for(*find_bubblewrap(), visible);
  for (const fs::path& path : writable) arguments.insert(arguments.end(), {"--bind", path.string(), path.string()});
  return arguments;
}

}  // namespace cudal1
