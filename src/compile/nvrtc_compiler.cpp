#include "compile/nvrtc_compiler.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <utility>

#include "base/files.hpp"
#include "compile/compiler_child.hpp"
#include "compile/compiler_log.hpp"
#include "compile/cubin.hpp"
#include "compile/nvrtc_options.hpp"
#include "compile/program_headers.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Raised whenever the meaning of a cached result changes: the checks of cubin.cpp, the format below.
constexpr std::string_view cache_format = "compiled module 1";
constexpr std::size_t max_answer_bytes = std::size_t{64} << 20;

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

}  // namespace

NvrtcCompiler::NvrtcCompiler(NvrtcCompilerOptions options) : CachedCompiler(options), options_(std::move(options)) {
  if (!options_.nvrtc) options_.nvrtc = find_nvrtc();
  if (!options_.nvrtc) throw Error("NVRTC, the CUDA compiler library, is missing: " + nvrtc_search_description());
  if (options_.compiler.empty()) options_.compiler = executable_directory() / "cudal1-compiler";
  headers_ = read_program_headers(program_include_directory());
  set_environment_digest(digest_of_environment(*options_.nvrtc, headers_));
}

std::optional<Failure> NvrtcCompiler::refused(const CompileRequest& request) const {
  return refused_include(request.source, headers_);
}

std::vector<std::string> NvrtcCompiler::arguments_for(const CompileRequest& request) const {
  return nvrtc_options(request.source, request.target, *options_.nvrtc);
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
    Result<CompileAnswer> answer = ask(question, options_.time_limit_for(request));
    if (!answer) return answer.failure();
    return judge(request, std::move(answer).value());
  } catch (const Error& error) {
    return Failure{Status::judge_error, fmt::format("cannot start the compiler: {}", error.what())};
  }
}

Result<CompileAnswer> NvrtcCompiler::ask(const CompileQuestion& question,
                                         std::chrono::milliseconds time_limit) const {
  Pipe pipe;
  const UniqueFd null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd memory = make_sealed_memory("compile-question", encode(question));
  const auto deadline = Clock::now() + time_limit;
  ChildOptions child_options = compiler_child({options_.compiler.string()}, options_.memory_limit_bytes);
  child_options.descriptors = {{null_device.get(), 0},
                               {null_device.get(), 1},
                               {null_device.get(), 2},
                               {memory.get(), compile_question_fd},
                               {pipe.writer.get(), compile_answer_fd}};
  ChildProcess child = ChildProcess::start(child_options);
  pipe.writer.reset();

  std::string bytes;
  std::array<CompilerOutput, 1> outputs{{{pipe.reader.get(), bytes, max_answer_bytes}}};
  const Reading reading = read_until(outputs, deadline);
  if (reading == Reading::timeout) return stopped_at_time_limit(time_limit);
  if (reading == Reading::too_much) return output_too_large(max_answer_bytes);
  const auto end = child.wait_for(std::chrono::seconds(1)).value_or(ChildExit{false, SIGKILL});
  auto answer = decode_answer(bytes);
  if (!answer || !end.exited || end.code != 0) return compiler_died(end, options_.memory_limit_bytes);
  return std::move(*answer);
}

Result<CompiledModule> NvrtcCompiler::judge(const CompileRequest& request, CompileAnswer answer) const {
  using Outcome = CompileAnswer::Outcome;
  // NVRTC sometimes notices the limit itself and calls it an error of the source.
  const bool out_of_memory = answer.log.find("catastrophic error: out of memory") != std::string::npos;
  if (answer.outcome == Outcome::out_of_memory || out_of_memory)
    return out_of_compiler_memory(options_.memory_limit_bytes, answer.log);
  if (answer.outcome == Outcome::internal_error)
    return Failure{Status::judge_error, "the compiler cannot work: " + first_error(answer.log).message, {}, answer.log};
  if (answer.outcome == Outcome::source_error) {
    CompilerDiagnosis diagnosis = with_own_line(first_error(answer.log), request.source);
    return Failure{Status::compile_error, std::move(diagnosis.message), diagnosis.at, std::move(answer.log)};
  }
  for (const auto& kernel : request.kernels)
    if (!answer.symbols.contains(kernel))
      return Failure{
          Status::compile_error, fmt::format("kernel {} is not in the compiled program", kernel), {}, answer.log};
  if (auto reason = forbidden_content(answer.cubin, answer.ptx))
    return Failure{Status::forbidden, std::move(*reason), {}, answer.log};
  return CompiledModule{std::move(answer.cubin), std::move(answer.symbols), std::move(answer.log), 0.0, false};
}

}  // namespace cudal1
