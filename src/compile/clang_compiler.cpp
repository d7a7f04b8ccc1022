#include "compile/clang_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "compile/clang_process.hpp"
#include "compile/clang_program.hpp"
#include "compile/host_headers.hpp"
#include "compile/program_headers.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

// Raised whenever the meaning of a cached result changes: the checks of clang_program.cpp, the text around a source.
constexpr std::string_view cache_format = "ptx of clang 3";

// A call that programs may not make must not be optimised away unseen.
constexpr std::array<const char*, 2> judged_arguments{"-fno-builtin-printf", "-DNDEBUG"};
constexpr std::array<const char*, 2> debug_arguments{"-DCUDAL1_DEBUG", "-UNDEBUG"};

std::string digest_of_environment(const ClangLocation& clang, const std::map<std::string, std::string>& headers) {
  Sha256 hash;
  hash.add_field(cache_format).add_field(std::to_string(clang.major_version));
  add_file_identity(hash, clang.program);
  for (const auto& [name, text] : headers) hash.add_field(name).add_field(text);
  return hash.hex();
}

void write_headers(const fs::path& folder, const std::map<std::string, std::string>& headers) {
  for (const auto& [name, text] : headers) {
    const fs::path file = folder / name;
    fs::create_directories(file.parent_path());
    write_file_atomically(file, text);
  }
}

}  // namespace

ClangCompiler::ClangCompiler(ClangCompilerOptions options) : CachedCompiler(options), options_(std::move(options)) {
  if (!options_.clang) options_.clang = find_clang();
  if (!options_.clang)
    throw Error("clang, which compiles for the virtual GPU, is missing: " + clang_search_description());
  if (options_.launcher.empty()) options_.launcher = executable_directory() / "cudal1-clang";
  headers_ = read_vgpu_headers();
  write_headers(header_folder_.path(), headers_);
  set_environment_digest(digest_of_environment(*options_.clang, headers_));
}

std::optional<Failure> ClangCompiler::refused(const CompileRequest& request) const {
  for (const auto& kernel : request.kernels)
    if (!is_kernel_name(kernel))
      return Failure{Status::compile_error, fmt::format("'{}' is not the name of a kernel", kernel)};
  if (auto reason = refused_include(request.source, headers_)) return reason;
  return missing_on_vgpu(request.source, headers_);
}

std::string ClangCompiler::target_for(const std::string& asked) const {
  const int newest = options_.clang->highest_target;
  const int wanted = asked.starts_with("sm_") ? std::atoi(asked.c_str() + 3) : newest;
  return fmt::format("sm_{}", std::clamp(wanted, 80, newest));
}

std::vector<std::string> ClangCompiler::arguments_for(const CompileRequest& request) const {
  const ClangLocation& clang = *options_.clang;
  std::vector<std::string> arguments = {
      clang.program.string(), "-x", "cuda", "--cuda-device-only", "-S", "-O3", "-std=c++17",
      // no toolkit, no system headers: ours only
      "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "-nostdinc",
      fmt::format("--cuda-gpu-arch={}", target_for(request.target)), "-Xclang", "-target-feature", "-Xclang",
      fmt::format("+ptx{}", clang.ptx_version),
      // the same rounding on every device: what is not written as fma is not fused
      "-ffp-contract=off", "-gline-tables-only", "-fdebug-compilation-dir=/", "-fno-crash-diagnostics",
      "-fno-color-diagnostics", "-fno-spell-checking", "-Wno-unknown-cuda-version",
      // a call that programs may not make must not be optimised away unseen
      "-fno-builtin-malloc", "-fno-builtin-free"};
  // unlike `fast` it leaves __fsub_rn and its like alone, and only clang's inner compiler takes it
  if (options_.contract) arguments.insert(arguments.end(), {"-Xclang", "-ffp-contract=fast-honor-pragmas"});
  // asserts of honest programs are checks for their author, not part of the work
  for (const char* argument : options_.debug ? debug_arguments : judged_arguments) arguments.emplace_back(argument);
  for (const std::string_view argument : {"-include", prelude_header_name, "-o", "-", "-"})
    arguments.emplace_back(argument);
  return arguments;
}

Result<CompiledModule> ClangCompiler::compile_in_process(const CompileRequest& request,
                                                         const std::vector<std::string>& arguments) try {
  ClangRun run{options_.launcher,
               {header_folder_.path()},
               arguments,
               clang_source(request.source, request.kernels),
               options_.time_limit_for(request),
               options_.memory_limit_bytes};
  run.arguments.insert(run.arguments.end() - 1, "-I" + header_folder_.path().string());  // not part of the cache's key
  use_precompiled_prelude(run.arguments);
  Result<ClangOutput> answer = run_clang(run);
  if (!answer) return answer.failure();
  ClangOutput output = std::move(answer).value();
  if (!output.succeeded) {
    CompilerDiagnosis diagnosis = with_own_line(first_clang_error(output.log, request.kernels), request.source);
    return Failure{Status::compile_error, std::move(diagnosis.message), diagnosis.at, std::move(output.log)};
  }
  auto symbols = take_kernel_symbols(output.ptx, request.kernels);
  for (const auto& kernel : request.kernels)
    if (!symbols.contains(kernel))
      return Failure{
          Status::compile_error, fmt::format("kernel {} is not a __global__ function", kernel), {}, output.log};
  restore_lost_sizes(output.ptx);
  restore_shifted_signs(output.ptx);
  if (auto reason = forbidden_ptx(output.ptx, options_.debug))
    return Failure{Status::forbidden, std::move(*reason), {}, output.log};
  return CompiledModule{std::move(output.ptx), std::move(symbols), std::move(output.log), 0.0, false};
} catch (const Error& error) {
  return Failure{Status::judge_error, fmt::format("cannot start the compiler: {}", error.what())};
}

void ClangCompiler::use_precompiled_prelude(std::vector<std::string>& arguments) {
  const auto target = std::find_if(arguments.begin(), arguments.end(),
                                   [](const std::string& text) { return text.starts_with("--cuda-gpu-arch="); });
  const std::lock_guard lock(prelude_mutex_);
  Prelude& prelude = preludes_[*target];
  if (++prelude.uses == 2) prelude.file = precompile_prelude(arguments);
  if (prelude.file.empty()) return;
  const auto include = std::find(arguments.begin(), arguments.end(), "-include");
  include[0] = "-include-pch";
  include[1] = prelude.file;
}

//! The file, or nothing: programs compile without it, too.
std::string ClangCompiler::precompile_prelude(std::vector<std::string> arguments) const {
  const auto include = std::find(arguments.begin(), arguments.end(), "-include");
  include[0] = "-Xclang";
  include[1] = "-emit-pch";
  arguments.back() = (header_folder_.path() / prelude_header_name).string();
  const auto output = run_clang({options_.launcher,
                                 {header_folder_.path()},
                                 std::move(arguments),
                                 "",
                                 options_.time_limit,
                                 options_.memory_limit_bytes});
  if (!output || !output.value().succeeded) return {};
  const fs::path file = header_folder_.path() / fmt::format("prelude-{}.pch", preludes_.size());
  write_file_atomically(file, output.value().ptx);
  return file.string();
}

}  // namespace cudal1
