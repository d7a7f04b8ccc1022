#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile_cache.hpp"
#include "compile/compile_protocol.hpp"
#include "compile/compiler.hpp"
#include "compile/nvrtc_location.hpp"

namespace cudal1 {

struct NvrtcCompilerOptions {
  std::filesystem::path compiler;                     //!< cudal1-compiler; empty: beside the running executable
  std::optional<NvrtcLocation> nvrtc;                 //!< empty: find_nvrtc()
  std::optional<std::filesystem::path> cache_folder;  //!< empty: cache_directory()/compile
  bool use_cache = true;
  std::uint64_t cache_limit_bytes = CompileCache::default_limit_bytes;
  std::chrono::milliseconds time_limit{20'000};
  std::uint64_t memory_limit_bytes = std::uint64_t{4} << 30;
  std::size_t source_limit_bytes = std::size_t{4} << 20;
};

//! CUDA source -> cubin, each in a process of its own that is killed at its limits.
class NvrtcCompiler : public Compiler {
 public:
  explicit NvrtcCompiler(NvrtcCompilerOptions options = {});  //!< throws Error when NVRTC is not on this machine
  Result<CompiledModule> compile(const CompileRequest& request) override;

  const NvrtcLocation& location() const { return *options_.nvrtc; }

 private:
  std::vector<std::string> options_for(const CompileRequest& request) const;
  std::string key_for(const CompileRequest& request, const std::vector<std::string>& options) const;
  Result<CompiledModule> compile_in_process(const CompileRequest& request, const std::vector<std::string>& options);
  Result<CompileAnswer> ask(const CompileQuestion& question) const;
  Result<CompiledModule> judge(const CompileRequest& request, CompileAnswer answer) const;

  NvrtcCompilerOptions options_;
  std::map<std::string, std::string> headers_;
  std::string environment_digest_;  //!< of the headers, the compiler's version and its folders
  std::unique_ptr<CompileCache> cache_;
};

}  // namespace cudal1
