#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compile/cached_compiler.hpp"
#include "compile/compile_protocol.hpp"
#include "compile/nvrtc_location.hpp"

namespace cudal1 {

struct NvrtcCompilerOptions : CompilerOptions {
  std::filesystem::path compiler;      //!< cudal1-compiler; empty: beside the running executable
  std::optional<NvrtcLocation> nvrtc;  //!< empty: find_nvrtc()
};

//! CUDA source -> cubin, each in a process of its own that is killed at its limits.
class NvrtcCompiler : public CachedCompiler {
 public:
  explicit NvrtcCompiler(NvrtcCompilerOptions options = {});  //!< throws Error when NVRTC is not on this machine

  const NvrtcLocation& location() const { return *options_.nvrtc; }

 private:
  std::optional<Failure> refused(const CompileRequest& request) const override;
  std::vector<std::string> arguments_for(const CompileRequest& request) const override;
  Result<CompiledModule> compile_in_process(const CompileRequest& request,
                                            const std::vector<std::string>& options) override;
  Result<CompileAnswer> ask(const CompileQuestion& question, std::chrono::milliseconds time_limit) const;
  Result<CompiledModule> judge(const CompileRequest& request, CompileAnswer answer) const;

  NvrtcCompilerOptions options_;
  std::map<std::string, std::string> headers_;
};

}  // namespace cudal1
