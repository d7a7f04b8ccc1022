#include "runner/bubblewrap.hpp"

#include <fcntl.h>
#include <unistd.h>

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
                                     "/proc",
                                     "--tmpfs",
                                     "/tmp"};
  if (const char* home = std::getenv("HOME"); home && fs::is_directory(home) && fs::path(home) != "/") {
    arguments.insert(arguments.end(), {"--tmpfs", home});
  }
  for (const fs::path& path : visible) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) arguments.insert(arguments.end(), {"--ro-bind", path.string(), path.string()});
  }
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
