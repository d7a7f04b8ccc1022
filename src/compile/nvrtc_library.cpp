#include "compile/nvrtc_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "base/result.hpp"

namespace cudal1 {
namespace {

// Values of nvrtcResult that are told apart.
constexpr int nvrtc_success = 0;
constexpr int nvrtc_out_of_memory = 1;
constexpr int nvrtc_compilation_error = 6;

constexpr std::size_t max_log_bytes = std::size_t{64} << 10;

// NVRTC opens libnvrtc-builtins by its bare name; already loaded, it is found wherever it lies.
void load_builtins_beside(const std::filesystem::path& library) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(library.parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libnvrtc-builtins.so")) ::dlopen(entry.path().c_str(), RTLD_LAZY | RTLD_GLOBAL);
  }
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (!function) throw Error(fmt::format("NVRTC has no function {}: a version from CUDA 11.1 on is needed", name));
}

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> result;
  for (const auto& text : strings) result.push_back(text.c_str());
  return result;
}

std::string bounded(std::string log) {
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  if (log.size() <= max_log_bytes) return log;
  log.resize(max_log_bytes);
  return log + "\n(the rest of the log is left out)";
}

}  // namespace

NvrtcLibrary::NvrtcLibrary(const std::string& path) {
  load_builtins_beside(path);
  void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (!library) throw Error(fmt::format("cannot open NVRTC: {}", ::dlerror()));
  find(library, "nvrtcCreateProgram", create_program_);
  find(library, "nvrtcDestroyProgram", destroy_program_);
  find(library, "nvrtcAddNameExpression", add_name_expression_);
  find(library, "nvrtcCompileProgram", compile_program_);
  find(library, "nvrtcGetProgramLogSize", get_log_size_);
  find(library, "nvrtcGetProgramLog", get_log_);
  find(library, "nvrtcGetCUBINSize", get_cubin_size_);
  find(library, "nvrtcGetCUBIN", get_cubin_);
  find(library, "nvrtcGetPTXSize", get_ptx_size_);
  find(library, "nvrtcGetPTX", get_ptx_);
  find(library, "nvrtcGetLoweredName", get_lowered_name_);
}

CompileAnswer NvrtcLibrary::compile(const CompileQuestion& question) const {
  std::vector<std::string> names, texts;
  for (const auto& [name, text] : question.headers) {
    names.push_back(name);
    texts.push_back(text);
  }
  ProgramHandle program = nullptr;
  const std::string file_name(program_file_name);
  int result = create_program_(&program, question.source.c_str(), file_name.c_str(), static_cast<int>(names.size()),
                               pointers(texts).data(), pointers(names).data());
  for (const auto& kernel : question.kernels)
    if (result == nvrtc_success) result = add_name_expression_(program, kernel.c_str());
  if (result == nvrtc_success) {
    const auto options = pointers(question.options);
    result = compile_program_(program, static_cast<int>(options.size()), options.data());
  }
  CompileAnswer answer = collect(program, result, question);
  if (program) destroy_program_(&program);
  return answer;
}

std::string NvrtcLibrary::log_of(ProgramHandle program) const {
  std::size_t bytes = 0;
  if (!program || get_log_size_(program, &bytes) != nvrtc_success || bytes == 0) return {};
  std::string log(bytes, '\0');
  if (get_log_(program, log.data()) != nvrtc_success) return {};
  return bounded(std::move(log));
}

CompileAnswer NvrtcLibrary::collect(ProgramHandle program, int result, const CompileQuestion& question) const {
  CompileAnswer answer;
  answer.log = log_of(program);
  using Outcome = CompileAnswer::Outcome;
  if (result != nvrtc_success) {
    answer.outcome = result == nvrtc_out_of_memory       ? Outcome::out_of_memory
                     : result == nvrtc_compilation_error ? Outcome::source_error
                                                         : Outcome::internal_error;
    if (answer.outcome == Outcome::internal_error) answer.log += fmt::format("\nNVRTC reports error {}", result);
    return answer;
  }
  std::size_t bytes = 0;
  if (get_cubin_size_(program, &bytes) != nvrtc_success) return answer;
  answer.cubin.resize(bytes);
  if (get_cubin_(program, answer.cubin.data()) != nvrtc_success) return answer;
  if (get_ptx_size_(program, &bytes) == nvrtc_success && bytes > 0) {
    answer.ptx.resize(bytes);
    if (get_ptx_(program, answer.ptx.data()) != nvrtc_success) answer.ptx.clear();
    while (!answer.ptx.empty() && answer.ptx.back() == '\0') answer.ptx.pop_back();
  }
  for (const auto& kernel : question.kernels) {
    const char* symbol = nullptr;
    if (get_lowered_name_(program, kernel.c_str(), &symbol) == nvrtc_success && symbol) answer.symbols[kernel] = symbol;
  }
  answer.outcome = Outcome::compiled;
  return answer;
}

}  // namespace cudal1
