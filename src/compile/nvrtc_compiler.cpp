#include "compile/nvrtc_compiler.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "compile/compiler_log.hpp"
#include "compile/cubin.hpp"
#include "compile/host_headers.hpp"
#include "compile/module_codec.hpp"
#include "compile/program_headers.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Raised whenever the meaning of a cached result changes: the checks of cubin.cpp, the format below.
constexpr std::string_view cache_format = "compiled module 1";
constexpr std::size_t max_answer_bytes = std::size_t{64} << 20;

Failure failure(Status status, std::string message, SourcePosition at = {}, std::string details = {}) {
  return {status, std::move(message), at, std::move(details)};
}

// --- identity of the compiler ----------------------------------------------------------------------------------------

//! A file by name, size and time: the NVRTC library has 100 MB, too many to hash at every start.
void add_file_identity(Sha256& hash, const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;
  hash.add_field(fmt::format("{} {} {}.{}", path.string(), info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
}

std::string digest_of_environment(const NvrtcLocation& nvrtc, const std::map<std::string, std::string>& headers) {
  Sha256 hash;
  hash.add_field(cache_format).add_field(nvrtc.version);
  add_file_identity(hash, nvrtc.library);
  for (const auto& folder : nvrtc.include_directories) {
    hash.add_field(folder.string());
    add_file_identity(hash, folder / "cuda_fp16.h");
    add_file_identity(hash, folder / "cuda_runtime_api.h");
  }
  for (const auto& [name, text] : headers) hash.add_field(name).add_field(text);
  return hash.hex();
}

// --- the child process -----------------------------------------------------------------------------------------------

// The address sanitizer reserves terabytes of addresses, so its builds cannot limit them.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool addresses_can_be_limited = false;
#else
constexpr bool addresses_can_be_limited = true;
#endif

enum class Reading { finished, timeout, too_much };

//! Reads the pipe to its end or to the deadline.
Reading read_until(int pipe, Clock::time_point deadline, std::string& bytes) {
  char chunk[1 << 16];
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Reading::timeout;
    pollfd waiting{pipe, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready <= 0) continue;
    const ssize_t got = ::read(pipe, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Reading::finished;
    bytes.append(chunk, static_cast<std::size_t>(got));
    if (bytes.size() > max_answer_bytes) return Reading::too_much;
  }
}

ChildOptions child_options(const fs::path& compiler, int question, int answer, int null_device,
                           std::uint64_t memory_limit_bytes) {
  ChildOptions options;
  options.arguments = {compiler.string()};
  options.environment = {{"LANG", "C"}, {"PATH", "/usr/bin:/bin"}};
  options.descriptors = {{null_device, 0},
                         {null_device, 1},
                         {null_device, 2},
                         {question, compile_question_fd},
                         {answer, compile_answer_fd}};
  if (addresses_can_be_limited) options.limits.address_space_bytes = memory_limit_bytes;
  return options;
}

std::string how_it_ended(const ChildExit& end) {
  if (end.exited) return fmt::format("ended with exit code {}", end.code);
  return fmt::format("crashed ({})", ::strsignal(end.code));
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

}  // namespace

NvrtcCompiler::NvrtcCompiler(NvrtcCompilerOptions options) : options_(std::move(options)) {
  if (!options_.nvrtc) options_.nvrtc = find_nvrtc();
  if (!options_.nvrtc) throw Error("NVRTC, the CUDA compiler library, is missing: " + nvrtc_search_description());
  if (options_.compiler.empty()) options_.compiler = executable_directory() / "cudal1-compiler";
  headers_ = read_program_headers(program_include_directory());
  environment_digest_ = digest_of_environment(*options_.nvrtc, headers_);
  if (options_.use_cache)
    cache_ = std::make_unique<CompileCache>(options_.cache_folder.value_or(cache_directory() / "compile"),
                                            options_.cache_limit_bytes);
}

Result<CompiledModule> NvrtcCompiler::compile(const CompileRequest& request) {
  const auto start = Clock::now();
  if (request.source.size() > options_.source_limit_bytes)
    return failure(Status::compile_error, fmt::format("the source has {} bytes; at most {} are compiled",
                                                      request.source.size(), options_.source_limit_bytes));
  if (request.source.find('\0') != std::string::npos)
    return failure(Status::compile_error, "the source contains a zero byte: it is not text");
  if (auto refused = refused_include(request.source, headers_)) return *refused;

  const auto options = options_for(request);
  const std::string key = cache_ ? key_for(request, options) : std::string();
  std::optional<Result<CompiledModule>> result;
  if (cache_)
    if (const auto cached = cache_->load(key)) result = decode_result(*cached);
  if (!result) {
    result = compile_in_process(request, options);
    if (cache_ && is_deterministic(*result)) cache_->store(key, encode_result(*result));
  }
  if (result->ok()) result->value().seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return std::move(*result);
}

std::vector<std::string> NvrtcCompiler::options_for(const CompileRequest& request) const {
  std::vector<std::string> options = {"--gpu-architecture=" + request.target, "--std=c++17", "--generate-line-info",
                                      // helper functions without __device__ are the commonest slip, and harmless
                                      "--device-as-default-execution-space",
                                      // asserts of honest programs are checks for their author, not part of the work
                                      "--define-macro=NDEBUG", fmt::format("--pre-include={}", prelude_header_name)};
  // Without libcu++, cooperative_groups.h costs 0.2 s instead of 1.5 s.
  // With it, its macros (INT_MAX, INFINITY) meet those of our small headers; they mean the same.
  options.push_back(includes_libcudacxx(request.source) ? "--diag-suppress=47"
                                                        : "--define-macro=_CG_LIMIT_INCLUDED_DEPENDENCIES");
  for (const auto& folder : options_.nvrtc->include_directories) options.push_back("--include-path=" + folder.string());
  return options;
}

std::string NvrtcCompiler::key_for(const CompileRequest& request, const std::vector<std::string>& options) const {
  Sha256 hash;
  hash.add_field(environment_digest_).add_field(request.target).add_field(request.source);
  hash.add_field(std::to_string(options.size()));
  for (const auto& option : options) hash.add_field(option);
  for (const auto& kernel : request.kernels) hash.add_field(kernel);
  return hash.hex();
}

Result<CompiledModule> NvrtcCompiler::compile_in_process(const CompileRequest& request,
                                                         const std::vector<std::string>& options) {
  CompileQuestion question;
  question.source = request.source;
  question.kernels = request.kernels;
  question.options = options;
  question.headers = headers_;
  for (const auto& folder : options_.nvrtc->include_directories)
    question.include_directories.push_back(folder.string());
  question.nvrtc_library = options_.nvrtc->library.string();
  try {
    Result<CompileAnswer> answer = ask(question);
    if (!answer) return answer.failure();
    return judge(request, std::move(answer).value());
  } catch (const Error& error) {
    return failure(Status::judge_error, fmt::format("cannot start the compiler: {}", error.what()));
  }
}

Result<CompileAnswer> NvrtcCompiler::ask(const CompileQuestion& question) const {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(std::strerror(errno));
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const UniqueFd null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd memory = make_sealed_memory("compile-question", encode(question));
  const auto deadline = Clock::now() + options_.time_limit;
  ChildProcess child = ChildProcess::start(
      child_options(options_.compiler, memory.get(), writer.get(), null_device.get(), options_.memory_limit_bytes));
  writer.reset();

  std::string bytes;
  const Reading reading = read_until(reader.get(), deadline, bytes);
  if (reading == Reading::timeout)
    return failure(Status::compile_timeout, fmt::format("the compiler was stopped at its time limit of {} s",
                                                        options_.time_limit.count() / 1000.0));
  if (reading == Reading::too_much)
    return failure(Status::compile_timeout,
                   fmt::format("the compiler's output is larger than its limit of {}", megabytes(max_answer_bytes)));
  const auto end = child.wait_for(std::chrono::seconds(1)).value_or(ChildExit{false, SIGKILL});
  auto answer = decode_answer(bytes);
  if (!answer || !end.exited || end.code != 0)
    return failure(Status::compile_timeout,
                   fmt::format("the compiler {}, with memory limited to {}; simplify the source", how_it_ended(end),
                               megabytes(options_.memory_limit_bytes)));
  return std::move(*answer);
}

Result<CompiledModule> NvrtcCompiler::judge(const CompileRequest& request, CompileAnswer answer) const {
  using Outcome = CompileAnswer::Outcome;
  // NVRTC sometimes notices the limit itself and calls it an error of the source.
  const bool out_of_memory = answer.log.find("catastrophic error: out of memory") != std::string::npos;
  if (answer.outcome == Outcome::out_of_memory || out_of_memory)
    return failure(Status::compile_timeout,
                   fmt::format("the compiler ran out of its {} of memory", megabytes(options_.memory_limit_bytes)), {},
                   answer.log);
  if (answer.outcome == Outcome::internal_error)
    return failure(Status::judge_error, "the compiler cannot work: " + first_error(answer.log).message, {}, answer.log);
  if (answer.outcome == Outcome::source_error) {
    CompilerDiagnosis diagnosis = first_error(answer.log);
    return failure(Status::compile_error, std::move(diagnosis.message), diagnosis.at, std::move(answer.log));
  }
  for (const auto& kernel : request.kernels)
    if (!answer.symbols.contains(kernel))
      return failure(Status::compile_error, fmt::format("kernel {} is not in the compiled program", kernel), {},
                     answer.log);
  if (auto reason = forbidden_content(answer.cubin, answer.ptx))
    return failure(Status::forbidden, std::move(*reason), {}, answer.log);
  return CompiledModule{std::move(answer.cubin), std::move(answer.symbols), std::move(answer.log), 0.0, false};
}

}  // namespace cudal1
