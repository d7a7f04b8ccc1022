#include "compile/program_headers.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/files.hpp"
#include "compile/host_headers.hpp"
#include "compile/include_scan.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_header_bytes = std::size_t{1} << 20;

// Read from the CUDA include folder.
constexpr std::array<std::string_view, 34> cuda_headers = {"cuda_runtime.h",
                                                           "cuda_runtime_api.h",
                                                           "device_launch_parameters.h",
                                                           "vector_types.h",
                                                           "vector_functions.h",
                                                           "cuda_fp16.h",
                                                           "cuda_bf16.h",
                                                           "cuda_fp8.h",
                                                           "cuda_fp6.h",
                                                           "cuda_fp4.h",
                                                           "mma.h",
                                                           "cooperative_groups.h",
                                                           "cooperative_groups/reduce.h",
                                                           "cooperative_groups/scan.h",
                                                           "cooperative_groups/memcpy_async.h",
                                                           "cuda_pipeline.h",
                                                           "cuda_pipeline_primitives.h",
                                                           "cuda_awbarrier.h",
                                                           "cuda_awbarrier_primitives.h",
                                                           "math_constants.h",
                                                           "math_functions.h",
                                                           "device_functions.h",
                                                           "device_atomic_functions.h",
                                                           "device_types.h",
                                                           "driver_types.h",
                                                           "library_types.h",
                                                           "builtin_types.h",
                                                           "host_defines.h",
                                                           "cuComplex.h",
                                                           "sm_20_intrinsics.h",
                                                           "sm_30_intrinsics.h",
                                                           "sm_61_intrinsics.h",
                                                           "nv/target",
                                                           "common_functions.h"};

// Folders of CUDA's C++ core libraries. Offered although they take seconds: correct programs use them.
constexpr std::array<std::string_view, 3> cuda_header_folders = {"cuda/", "cub/block/", "cub/warp/"};

bool is_cuda_header(std::string_view name) {
  if (name.find("..") != std::string_view::npos) return false;
  for (const auto& header : cuda_headers)
    if (name == header) return true;
  for (const auto& folder : cuda_header_folders)
    if (name.starts_with(folder)) return true;
  return false;
}

bool looks_like_host_code(std::string_view name) {
  for (const std::string_view prefix :
       {"torch/", "ATen/", "c10/", "pybind11/", "Python.h", "cublas", "cudnn", "thrust/"})
    if (name.starts_with(prefix)) return true;
  return false;
}

bool has_own_headers(const std::map<std::string, std::string>& in_memory) {
  const auto first = in_memory.lower_bound("cudal1/");
  return first != in_memory.end() && first->first.starts_with("cudal1/");
}

std::string advice(const IncludeDirective& directive, const std::map<std::string, std::string>& in_memory) {
  if (directive.word == "embed") return "programs read no files: write the values out as a __constant__ table";
  if (directive.computed) return "write #include <name> with a plain name";
  if (looks_like_host_code(directive.name))
    return "a program has no host code: `//!` directives launch its kernels, library calls are `op` steps";
  return fmt::format("programs have device code only: use the CUDA device headers{} the C headers such as <math.h>{}",
                     has_own_headers(in_memory) ? "," : " or", has_own_headers(in_memory) ? ", or <cudal1/...>" : "");
}

std::string printable(std::string_view name) {
  std::string text;
  for (const char character : name.substr(0, 80)) text += character >= ' ' && character <= '~' ? character : '?';
  return text;
}

std::string what_is_refused(const IncludeDirective& directive) {
  const std::string shown = printable(directive.name);
  if (directive.word != "include") return fmt::format("#{} {} is refused", directive.word, shown);
  return directive.computed ? fmt::format("#include {} has no plain name", shown)
                            : fmt::format("header <{}> is not offered to programs", shown);
}

void add_folder(const fs::path& folder, const fs::path& root, std::map<std::string, std::string>& headers) {
  std::error_code error;
  for (const fs::path& file : files_below(folder))
    headers[fs::relative(file, root, error).generic_string()] = read_file(file, max_header_bytes);
}

//! The include folder that has this folder in it; empty when there is none.
fs::path include_directory_with(const char* name) {
  if (const char* given = std::getenv("CUDAL1_INCLUDE_DIR"); given && *given) return given;
  fs::path folder = executable_directory();
  std::error_code error;
  for (int level = 0; level < 4 && folder.has_relative_path(); ++level, folder = folder.parent_path())
    if (fs::is_directory(folder / "include" / name, error)) return folder / "include";
  if (fs::is_directory(fs::path(CUDAL1_INCLUDE_DIR_AT_BUILD) / name, error)) return CUDAL1_INCLUDE_DIR_AT_BUILD;
  return {};
}

}  // namespace

fs::path program_include_directory() { return include_directory_with("cudal1"); }

std::map<std::string, std::string> read_program_headers(const fs::path& include_directory) {
  std::map<std::string, std::string> headers = host_headers();
  if (!include_directory.empty()) add_folder(include_directory / "cudal1", include_directory, headers);
  return headers;
}

std::map<std::string, std::string> read_vgpu_headers() {
  std::map<std::string, std::string> headers = read_program_headers(program_include_directory());
  const fs::path ours = include_directory_with("cudal1_vgpu") / "cudal1_vgpu";
  add_folder(ours, ours, headers);
  return headers;
}

std::optional<Failure> missing_on_vgpu(std::string_view source, const std::map<std::string, std::string>& headers) {
  for (const auto& directive : scan_includes(source))
    if (!headers.contains(directive.name))
      return Failure{Status::unsupported,
                     fmt::format("header <{}> is not there on the virtual GPU", printable(directive.name)),
                     {directive.line, 1},
                     {}};
  return std::nullopt;
}

std::optional<Failure> refused_include(std::string_view source, const std::map<std::string, std::string>& in_memory) {
  for (const auto& directive : scan_includes(source)) {
    if (!directive.computed && (in_memory.contains(directive.name) || is_cuda_header(directive.name))) continue;
    return Failure{Status::forbidden,
                   fmt::format("{}; {}", what_is_refused(directive), advice(directive, in_memory)),
                   {directive.line, 1},
                   {}};
  }
  return std::nullopt;
}

bool includes_libcudacxx(std::string_view source) {
  for (const auto& directive : scan_includes(source))
    if (directive.name.starts_with("cuda/") || directive.name.starts_with("cub/")) return true;
  return false;
}

}  // namespace cudal1
