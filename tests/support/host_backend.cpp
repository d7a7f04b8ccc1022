#include "host_backend.hpp"

#include <filesystem>

#include "base/files.hpp"

namespace cudal1 {

HostBackend::HostBackend() {
  info_.name = "host processor";
  info_.uuid = "host-test-device";
  info_.target = HostCompiler::target;
  info_.multiprocessors = 1;
}

RunnerOptions HostBackend::runner_options() {
  pass_quirks_to_runners(choose_quirks_());
  RunnerOptions options;
  options.executable = executable_directory() / "cudal1-test-runner";
  options.readable = {std::filesystem::path(CUDAL1_TORCH_DIR).parent_path()};
  return options;
}

std::unique_ptr<Arena> HostBackend::make_arena(std::uint64_t bytes) { return make_host_arena(bytes); }

}  // namespace cudal1
