#include <ATen/Context.h>
#include <fmt/format.h>
#include <torch/version.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/files.hpp"
#include "base/sandbox.hpp"
#include "cli/commands.hpp"
#include "compile/clang_location.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "device/cuda/driver.hpp"
#include "runner/bubblewrap.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

//! One thing that is looked at.
struct Finding {
  std::string what;
  bool good = false;
  bool needed = true;  //!< else the program works without it, with the limitation that `advice` names
  std::string found;
  std::string advice;
};

Finding look_at_gpu() {
  const bool needed = !find_clang();  // else there is the virtual one
  Finding finding{
      "GPU", false, needed, {}, "times are predicted; measuring needs an NVIDIA GPU and its driver (550 or newer)"};
  std::string reason;
  const int count = cuda::device_count(reason);
  finding.good = count > 0;
  finding.found = reason;
  if (count == 0) return finding;
  const DeviceInfo info = cuda::device_info(0);
  finding.found = fmt::format("{} ({}, {} multiprocessors, {:.0f} GiB){}", info.name, info.target, info.multiprocessors,
                              static_cast<double>(info.memory_bytes) / (1 << 30),
                              count > 1 ? fmt::format(", first of {}", count) : "");
  return finding;
}

Finding look_at_clang() {
  const auto clang = find_clang();
  Finding finding{"virtual GPU", clang.has_value(), false, {}, "programs cannot run without a GPU: install clang"};
  finding.found = clang ? fmt::format("{}, up to sm_{}", clang->program.string(), clang->highest_target)
                        : clang_search_description();
  return finding;
}

Finding look_at_nvrtc() {
  const auto location = find_nvrtc();
  Finding finding{"NVRTC", location.has_value(), true, {}, "pip install nvidia-cuda-nvrtc, or install a CUDA toolkit"};
  finding.found = location ? location->library.string() + " " + location->version : nvrtc_search_description();
  return finding;
}

Finding look_at_headers() {
  const auto location = find_nvrtc();
  const bool good = location && !location->include_directories.empty();
  return {"CUDA headers", good, false, good ? location->include_directories.front().string() : "not found",
          "programs that include cuda_fp16.h, mma.h and the like will not compile: install a CUDA toolkit"};
}

Finding try_compiler() {
  Finding finding{"compile", false, true, {}, "run with --verbose for the compiler's log"};
  try {
    NvrtcCompilerOptions options;
    options.use_cache = false;
    const auto module = NvrtcCompiler(options).compile(
        {"extern \"C\" __global__ void probe(float* x) { x[threadIdx.x] = 1.0f; }", {"probe"}, "sm_90"});
    finding.good = module.ok();
    finding.found = module ? fmt::format("a kernel in {:.2f} s", module.value().seconds) : module.failure().message;
  } catch (const Error& error) {
    finding.found = error.what();
  }
  return finding;
}

Finding look_at_torch() {
#ifdef CUDAL1_TORCH_HAS_CUDA
  constexpr const char* kind = "built with CUDA";
#else
  constexpr const char* kind = "built without CUDA";
#endif
  return {"PyTorch", true, true, fmt::format("{}, {}", TORCH_VERSION, kind), {}};
}

Finding look_at_file(const std::string& what, const std::string& name) {
  const fs::path path = executable_directory() / name;
  return {what, fs::exists(path), true, path.string(), "build again: ./cudal1 --version"};
}

Finding look_at_sandbox() {
  const bool bubblewrap = bubblewrap_works();
  const int landlock = landlock_abi();
  return {"sandbox", bubblewrap || landlock > 0, false,
          fmt::format("seccomp, {}, {}", bubblewrap ? "bubblewrap" : "no bubblewrap",
                      landlock > 0 ? fmt::format("Landlock {}", landlock) : "no Landlock"),
          "install bubblewrap: without it the runner can still read files of this user"};
}

Finding look_at_folder(const std::string& what, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const bool writable = !error && ::access(folder.c_str(), W_OK) == 0;
  const auto space = fs::space(folder, error);
  return {what, writable, false,
          fmt::format("{}{}", folder.string(),
                      writable ? fmt::format(" ({:.1f} GiB free)", static_cast<double>(space.available) / (1 << 30))
                               : " is not writable"),
          "set CUDAL1_CACHE_DIR or CUDAL1_DATA_DIR to a folder that can be written"};
}

std::vector<Finding> look_around() {
  return {look_at_gpu(),
          look_at_clang(),
          look_at_nvrtc(),
          look_at_headers(),
          try_compiler(),
          look_at_torch(),
          look_at_file("runner", "cudal1-runner"),
          look_at_file("virtual runner", "cudal1-vgpu-runner"),
          look_at_file("op plug-in", "libcudal1_ops.so"),
          look_at_sandbox(),
          look_at_folder("compile cache", cache_directory()),
          look_at_folder("archive", data_directory())};
}

int run_doctor(bool as_json) {
  const auto findings = look_around();
  bool all_good = true;
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings) {
    all_good = all_good && (finding.good || !finding.needed);
    const std::string_view state = finding.good ? "ok" : finding.needed ? "missing" : "limited";
    if (as_json)
      list.push_back({{"what", finding.what},
                      {"state", state},
                      {"found", finding.found},
                      {"advice", finding.good ? "" : finding.advice}});
    else
      fmt::print("{:<8} {:<14} {}{}\n", state, finding.what, finding.found,
                 finding.good || finding.advice.empty() ? "" : "\n                        " + finding.advice);
  }
  if (as_json) fmt::print("{}\n", nlohmann::json{{"ready", all_good}, {"findings", list}}.dump(2));
  return all_good ? 0 : 1;
}

}  // namespace

void add_doctor_command(CLI::App& app, CommandAction& action) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "What is here, what is missing, what to do");
  command->footer("Example: cudal1 doctor --json");
  command->add_flag("--json", *as_json, "One JSON object on standard output");
  command->callback([as_json, &action] { action = [as_json] { return run_doctor(*as_json); }; });
}

}  // namespace cudal1
