#include "host_device/host_compiler.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "host_device/program_text.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::string_view program_file = "program.cu";
constexpr std::chrono::seconds compile_limit{60};

std::string cache_key(const CompileRequest& request) {
  Sha256 hash;
  hash.add_field(request.source);
  for (const std::string& kernel : request.kernels) hash.add_field(kernel);
  return hash.hex();
}

std::string symbol_of(std::size_t kernel_index) { return fmt::format("cudal1_kernel_{}", kernel_index); }

std::string translation_unit(const CompileRequest& request) {
  std::string unit = "#include \"cuda_on_host.hpp\"\n";
  unit += fmt::format("#line 1 \"{}\"\n{}\n", program_file, rewrite_shared_memory(request.source));
  unit += "#line 1 \"kernels of the plan\"\n";
  for (std::size_t i = 0; i < request.kernels.size(); ++i)
    unit += fmt::format("CUDAL1_HOST_KERNEL({}, {})\n", i, request.kernels[i]);
  return unit;
}

ChildOptions compiler_call(const fs::path& unit, const fs::path& library, int log) {
  ChildOptions options;
  // -fno-strict-aliasing: programs read floats through float4 pointers, as CUDA allows. -fno-gnu-unique: a library
  // with such symbols could never be unloaded.
  options.arguments = {CUDAL1_HOST_CXX,
                       "-std=c++20",
                       "-O1",
                       "-shared",
                       "-fPIC",
                       "-w",
                       "-fno-strict-aliasing",
                       "-fvisibility=hidden",
                       "-fno-gnu-unique",
                       "-fmax-errors=20",
                       "-I",
                       CUDAL1_HOST_INCLUDE,
                       "-o",
                       library,
                       unit};
  options.environment = minimal_environment();
  options.descriptors = {{log, STDOUT_FILENO}, {log, STDERR_FILENO}};
  options.limits.cpu_seconds = static_cast<std::uint64_t>(compile_limit.count());
  return options;
}

int parse_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);  // the colon
  return error == std::errc() ? number : 0;
}

//! From the first line of the log that says "error: "; its place if that is in the program's text.
Failure compile_failure(const std::string& log) {
  Failure failure{Status::compile_error, "the compiler refused the program", {}, log};
  const std::size_t error = log.find("error: ");
  if (error == std::string::npos) return failure;
  const std::size_t line_start = log.rfind('\n', error) + 1;
  failure.message = log.substr(error + 7, log.find('\n', error) - error - 7);
  std::string_view line = std::string_view(log).substr(line_start, error - line_start);
  if (!line.starts_with(program_file)) return failure;
  line.remove_prefix(program_file.size() + 1);
  failure.at.line = parse_number(line);
  failure.at.column = parse_number(line);
  return failure;
}

Result<std::string> build_library(const CompileRequest& request) {
  const TemporaryFolder folder;
  const fs::path unit = folder.path() / "unit.cpp", library = folder.path() / "program.so", log = folder.path() / "log";
  write_file_atomically(unit, translation_unit(request));
  const UniqueFd log_file(open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  ChildProcess child = ChildProcess::start(compiler_call(unit, library, log_file.get()));
  const auto exit = child.wait_for(compile_limit);
  if (!exit || !exit->exited) return Failure{Status::compile_timeout, "the compiler ran past its limit or crashed"};
  if (exit->code != 0) return compile_failure(read_file(log));
  return read_file(library);
}

}  // namespace

Result<CompiledModule> HostCompiler::compile(const CompileRequest& request) {
  const std::string key = cache_key(request);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = cache_.find(key); found != cache_.end()) {
      CompiledModule module = found->second;
      module.from_cache = true;
      return module;
    }
  }
  if (auto failure = find_forbidden(request.source)) return *failure;
  const auto start = Clock::now();
  auto library = build_library(request);
  if (!library) return library.failure();
  CompiledModule module;
  module.binary = std::move(library).value();
  module.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  for (std::size_t i = 0; i < request.kernels.size(); ++i) module.symbols[request.kernels[i]] = symbol_of(i);
  const std::lock_guard lock(mutex_);
  return cache_[key] = std::move(module);
}

}  // namespace cudal1
