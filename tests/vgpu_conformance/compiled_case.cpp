#include "compiled_case.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compile/clang_compiler.hpp"

namespace cudal1::conformance {

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

}  // namespace cudal1::conformance
