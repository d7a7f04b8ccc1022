#include "compile/clang_compiler.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/hash.hpp"
#include "compile/clang_process.hpp"
#include "compile/clang_program.hpp"
#include "compile/host_headers.hpp"
#include "compile/module_codec.hpp"
#include "compile/program_headers.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Raised whenever the meaning of a cached result changes: the checks of clang_program.cpp, the text around a source.
constexpr std::string_view cache_format = "ptx of clang 1";

Failure failure(Status status, std::string message, SourcePosition at = {}, std::string details = {}) {
  return {status, std::move(message), at, std::move(details)};
}

std::string digest_of_environment(const ClangLocation& clang, const std::map<std::string, std::string>& headers) {
  Sha256 hash;
  hash.add_field(cache_format);
  struct stat info {};
  ::stat(clang.program.c_str(), &info);
  hash.add_field(fmt::format("{} {} {} {}", clang.program.string(), clang.major_version, info.st_size,
                             static_cast<std::int64_t>(info.st_mtim.tv_sec)));
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

ClangCompiler::ClangCompiler(ClangCompilerOptions options) : options_(std::move(options)) {
  if (!options_.clang) options_.clang = find_clang();
  if (!options_.clang)
    throw Error("clang, which compiles for the virtual GPU, is missing: " + clang_search_description());
  if (options_.launcher.empty()) options_.launcher = executable_directory() / "cudal1-clang";
  headers_ = read_vgpu_headers();
  write_headers(header_folder_.path(), headers_);
  environment_digest_ = digest_of_environment(*options_.clang, headers_);
  if (options_.use_cache)
    cache_ = std::make_unique<CompileCache>(options_.cache_folder.value_or(cache_directory() / "compile"),
                                            options_.cache_limit_bytes);
}

Result<CompiledModule> ClangCompiler::compile(const CompileRequest& request) {
  const auto start = Clock::now();
  if (auto reason = refused(request)) return *reason;
  const auto arguments = arguments_for(request);
  const std::string key = cache_ ? key_for(request, arguments) : std::string();
  std::optional<Result<CompiledModule>> result;
  if (cache_)
    if (const auto cached = cache_->load(key)) result = decode_result(*cached);
  if (!result) {
    result = compile_in_process(request, arguments);
    if (cache_ && is_deterministic(*result)) cache_->store(key, encode_result(*result));
  }
  if (result->ok()) result->value().seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return std::move(*result);
}

std::optional<Failure> ClangCompiler::refused(const CompileRequest& request) const {
  if (request.source.size() > options_.source_limit_bytes)
    return failure(Status::compile_error, fmt::format("the source has {} bytes; at most {} are compiled",
                                                      request.source.size(), options_.source_limit_bytes));
  if (request.source.find('\0') != std::string::npos)
    return failure(Status::compile_error, "the source contains a zero byte: it is not text");
  for (const auto& kernel : request.kernels)
    if (!is_kernel_name(kernel))
      return failure(Status::compile_error, fmt::format("'{}' is not the name of a kernel", kernel));
  if (auto reason = refused_include(request.source, headers_)) return reason;
  return missing_on_vgpu(request.source, headers_);
}

std::vector<std::string> ClangCompiler::arguments_for(const CompileRequest& request) const {
  const ClangLocation& clang = *options_.clang;
  int target = request.target.starts_with("sm_") ? std::atoi(request.target.c_str() + 3) : clang.highest_target;
  target = std::clamp(target, 80, clang.highest_target);
  return {clang.program.string(), "-x", "cuda", "--cuda-device-only", "-S", "-O3", "-std=c++17",
          // no toolkit, no system headers: ours only
          "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "-nostdinc",
          fmt::format("--cuda-gpu-arch=sm_{}", target), "-Xclang", "-target-feature", "-Xclang",
          fmt::format("+ptx{}", clang.ptx_version),
          // the same rounding on every device: what is not written as fma is not fused
          "-ffp-contract=off", "-gline-tables-only", "-fdebug-compilation-dir=/", "-fno-crash-diagnostics",
          "-fno-color-diagnostics", "-fno-spell-checking", "-Wno-unknown-cuda-version",
          // a call that programs may not make must not be optimised away unseen
          "-fno-builtin-malloc", "-fno-builtin-free", "-fno-builtin-printf",
          // asserts of honest programs are checks for their author, not part of the work
          "-DNDEBUG", "-include", prelude_header_name, "-o", "-", "-"};
}

std::string ClangCompiler::key_for(const CompileRequest& request, const std::vector<std::string>& arguments) const {
  Sha256 hash;
  hash.add_field(environment_digest_).add_field(request.source).add_field(std::to_string(arguments.size()));
  for (const auto& argument : arguments) hash.add_field(argument);
  for (const auto& kernel : request.kernels) hash.add_field(kernel);
  return hash.hex();
}

Result<CompiledModule> ClangCompiler::compile_in_process(const CompileRequest& request,
                                                         const std::vector<std::string>& arguments) try {
  ClangRun run{options_.launcher,   {header_folder_.path()},
               arguments,           clang_source(request.source, request.kernels),
               options_.time_limit, options_.memory_limit_bytes};
  run.arguments.insert(run.arguments.end() - 1, "-I" + header_folder_.path().string());  // not part of the cache's key
  use_precompiled_prelude(run.arguments);
  Result<ClangOutput> answer = run_clang(run);
  if (!answer) return answer.failure();
  ClangOutput output = std::move(answer).value();
  if (!output.succeeded) {
    CompilerDiagnosis diagnosis = first_clang_error(output.log, request.kernels);
    return failure(Status::compile_error, std::move(diagnosis.message), diagnosis.at, std::move(output.log));
  }
  auto symbols = take_kernel_symbols(output.ptx, request.kernels);
  for (const auto& kernel : request.kernels)
    if (!symbols.contains(kernel))
      return failure(Status::compile_error, fmt::format("kernel {} is not a __global__ function", kernel), {},
                     output.log);
  if (auto reason = forbidden_ptx(output.ptx)) return failure(Status::forbidden, std::move(*reason), {}, output.log);
  return CompiledModule{std::move(output.ptx), std::move(symbols), std::move(output.log), 0.0, false};
} catch (const Error& error) {
  return failure(Status::judge_error, fmt::format("cannot start the compiler: {}", error.what()));
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
