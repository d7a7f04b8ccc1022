#include "compile/cached_compiler.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "base/seconds_since.hpp"
#include "compile/module_codec.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::chrono::milliseconds CompilerOptions::time_limit_for(const CompileRequest& request) const {
  constexpr std::size_t kernels_as_long_as_one = 20, most_times = 6;
  const std::size_t further = request.kernels.empty() ? 0 : request.kernels.size() - 1;
  return time_limit * std::min(kernels_as_long_as_one + further, most_times * kernels_as_long_as_one) /
         kernels_as_long_as_one;
}

CachedCompiler::CachedCompiler(const CompilerOptions& options) : source_limit_bytes_(options.source_limit_bytes) {
  if (options.use_cache)
    cache_ = std::make_unique<CompileCache>(options.cache_folder.value_or(cache_directory() / "compile"),
                                            options.cache_limit_bytes);
}

Result<CompiledModule> CachedCompiler::compile(const CompileRequest& request) {
  const auto start = Clock::now();
  if (auto reason = refused_as_text(request)) return *reason;
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
  if (result->ok()) result->value().seconds = seconds_since(start);
  return std::move(*result);
}

std::optional<Failure> CachedCompiler::refused_as_text(const CompileRequest& request) const {
  if (request.source.size() > source_limit_bytes_)
    return Failure{Status::compile_error, fmt::format("the source has {} bytes; at most {} are compiled",
                                                      request.source.size(), source_limit_bytes_)};
  if (request.source.find('\0') != std::string::npos)
    return Failure{Status::compile_error, "the source contains a zero byte: it is not text"};
  return std::nullopt;
}

std::string CachedCompiler::key_for(const CompileRequest& request, const std::vector<std::string>& arguments) const {
  Sha256 hash;
  hash.add_field(environment_digest_).add_field(request.target).add_field(request.source);
  hash.add_field(std::to_string(arguments.size()));
  for (const auto& argument : arguments) hash.add_field(argument);
  for (const auto& kernel : request.kernels) hash.add_field(kernel);
  return hash.hex();
}

void add_file_identity(Sha256& hash, const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;
  hash.add_field(fmt::format("{} {} {}.{}", path.string(), info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
}

}  // namespace cudal1
