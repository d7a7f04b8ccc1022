#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "compile/clang_location.hpp"
#include "compile/compile_cache.hpp"
#include "compile/compiler.hpp"

namespace cudal1 {

struct ClangCompilerOptions {
  std::filesystem::path launcher;                     //!< cudal1-clang; empty: beside the running executable
  std::optional<ClangLocation> clang;                 //!< empty: find_clang()
  std::optional<std::filesystem::path> cache_folder;  //!< empty: cache_directory()/compile
  bool use_cache = true;
  std::uint64_t cache_limit_bytes = CompileCache::default_limit_bytes;
  std::chrono::milliseconds time_limit{20'000};
  std::uint64_t memory_limit_bytes = std::uint64_t{4} << 30;
  std::size_t source_limit_bytes = std::size_t{4} << 20;
};

//! CUDA source -> PTX text for the virtual GPU, each in a process of its own that is killed at its limits. A target
//! that this clang does not know ("sm_90" for clang 14) becomes the newest that it does. Failures besides those of
//! Compiler: unsupported, for headers that only NVIDIA's compiler has.
class ClangCompiler : public Compiler {
 public:
  explicit ClangCompiler(ClangCompilerOptions options = {});  //!< throws Error when clang is not on this machine
  Result<CompiledModule> compile(const CompileRequest& request) override;

  const ClangLocation& location() const { return *options_.clang; }

 private:
  std::vector<std::string> arguments_for(const CompileRequest& request) const;
  std::string key_for(const CompileRequest& request, const std::vector<std::string>& arguments) const;
  std::optional<Failure> refused(const CompileRequest& request) const;
  Result<CompiledModule> compile_in_process(const CompileRequest& request, const std::vector<std::string>& arguments);

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
  TemporaryFolder header_folder_;   //!< the headers as files: clang reads no others
  std::string environment_digest_;  //!< of the headers and the compiler
  std::unique_ptr<CompileCache> cache_;
};

}  // namespace cudal1
