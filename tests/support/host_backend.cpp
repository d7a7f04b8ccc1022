#include "host_backend.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/files.hpp"

namespace cudal1 {

HostBackend::HostBackend() {
  info_.name = "host processor";
  // One for each process: tests that run side by side share no device, and need not wait for each other.
  info_.uuid = "host-" + std::to_string(::getpid());
  info_.target = HostCompiler::target;
  info_.multiprocessors = 1;
}

HostBackend::~HostBackend() {
  for (const char* kind : {".lock", ".turnstile"}) ::unlink(("/tmp/cudal1-gpu-" + info_.uuid + kind).c_str());
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
