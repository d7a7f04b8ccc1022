#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "compile/cached_compiler.hpp"
#include "compile/clang_location.hpp"

namespace cudal1 {

struct ClangCompilerOptions : CompilerOptions {
  std::filesystem::path launcher;      //!< cudal1-clang; empty: beside the running executable
  std::optional<ClangLocation> clang;  //!< empty: find_clang()
  bool debug = false;                  //!< asserts are checked, and printf may be called
  bool contract = false;               //!< products go into sums without rounding, as NVRTC has it
};

//! CUDA source -> PTX text for the virtual GPU, each in a process of its own that is killed at its limits. A target
//! that this clang does not know ("sm_90" for clang 14) becomes the newest that it does. Failures besides those of
//! Compiler: unsupported, for headers that only NVIDIA's compiler has.
class ClangCompiler : public CachedCompiler {
 public:
  explicit ClangCompiler(ClangCompilerOptions options = {});  //!< throws Error when clang is not on this machine

  const ClangLocation& location() const { return *options_.clang; }
  std::string target_for(const std::string& asked) const override;

 private:
  std::optional<Failure> refused(const CompileRequest& request) const override;
  std::vector<std::string> arguments_for(const CompileRequest& request) const override;
  Result<CompiledModule> compile_in_process(const CompileRequest& request,
                                            const std::vector<std::string>& arguments) override;

  void use_precompiled_prelude(std::vector<std::string>& arguments);
  std::string precompile_prelude(std::vector<std::string> arguments) const;

  //! Reading the prelude takes clang 160 ms as text and 40 ms precompiled, which takes 200 ms and pays from the second
  //! program on. The PTX is the same.
  struct Prelude {
    int uses = 0;
    std::string file;  //!< empty: not precompiled
  };

  ClangCompilerOptions options_;
  std::mutex prelude_mutex_;
  std::map<std::string, Prelude> preludes_;  //!< by target
  std::map<std::string, std::string> headers_;
  TemporaryFolder header_folder_;  //!< the headers as files: clang reads no others
};

}  // namespace cudal1
