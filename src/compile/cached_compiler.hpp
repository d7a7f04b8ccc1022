// What the compilers of programs have in common: limits, checks of the source, the cache, the clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "compile/compile_cache.hpp"
#include "compile/compiler.hpp"

namespace cudal1 {

struct CompilerOptions {
  std::optional<std::filesystem::path> cache_folder;  //!< empty: cache_directory()/compile
  bool use_cache = true;
  std::uint64_t cache_limit_bytes = CompileCache::default_limit_bytes;
  std::chrono::milliseconds time_limit{20'000};  //!< of a program with one kernel
  std::uint64_t memory_limit_bytes = std::uint64_t{4} << 30;
  std::size_t source_limit_bytes = std::size_t{4} << 20;

  //! Twenty kernels have twice the time of one, a hundred and more six times as much: a whole network may have them.
  std::chrono::milliseconds time_limit_for(const CompileRequest& request) const;
};

class CachedCompiler : public Compiler {
 public:
  Result<CompiledModule> compile(const CompileRequest& request) final;

 protected:
  explicit CachedCompiler(const CompilerOptions& options);

  //! What this compiler does not take, besides sources that are too large or no text.
  virtual std::optional<Failure> refused(const CompileRequest& request) const = 0;
  //! Everything that decides about the result and is not in the request or the digest.
  virtual std::vector<std::string> arguments_for(const CompileRequest& request) const = 0;
  virtual Result<CompiledModule> compile_in_process(const CompileRequest& request,
                                                    const std::vector<std::string>& arguments) = 0;

  //! Of the headers, the compiler's version and its folders.
  void set_environment_digest(std::string digest) { environment_digest_ = std::move(digest); }

 private:
  std::optional<Failure> refused_as_text(const CompileRequest& request) const;
  std::string key_for(const CompileRequest& request, const std::vector<std::string>& arguments) const;

  std::size_t source_limit_bytes_;
  std::string environment_digest_;
  std::unique_ptr<CompileCache> cache_;
};

//! A file by name, size and time: compilers have 100 MB, too many to hash at every start.
void add_file_identity(Sha256& hash, const std::filesystem::path& path);

}  // namespace cudal1
