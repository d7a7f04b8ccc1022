#include "compiled_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "compile/clang_compiler.hpp"

namespace cudal1::conformance {
namespace {

std::filesystem::path compiled_file(const std::filesystem::path& folder, const Case& given) {
  return folder / (given.name() + ".json");
}

}  // namespace

CompiledCase compile(const Case& given) {
  static ClangCompiler compiler;
  CompileRequest request{given.source, {}, "sm_90"};
  for (const LaunchSpec& launch : given.launches)
    if (std::ranges::find(request.kernels, launch.kernel) == request.kernels.end())
      request.kernels.push_back(launch.kernel);
  Result<CompiledModule> compiled = compiler.compile(request);
  if (!compiled)
    throw Error(fmt::format("{}: {}\n{}", given.name(), compiled.failure().message, compiled.failure().details));
  CompiledModule module = std::move(compiled).value();
  return {std::move(module.binary), std::move(module.symbols)};
}

void store_compiled(const std::filesystem::path& folder, const Case& given, const CompiledCase& compiled) {
  const nlohmann::json stored = {
      {"source", sha256_hex(given.source)}, {"symbols", compiled.symbols}, {"ptx", compiled.ptx}};
  write_file_atomically(compiled_file(folder, given), stored.dump(1));
}

CompiledCase load_compiled(const std::filesystem::path& folder, const Case& given) {
  const auto stored = nlohmann::json::parse(read_file(compiled_file(folder, given)));
  if (stored.at("source") != sha256_hex(given.source))
    throw Error(fmt::format("{}: compiled from another source", given.name()));
  return {stored.at("ptx"), stored.at("symbols")};
}

}  // namespace cudal1::conformance
