// PTX of a case.
#pragma once

#include <filesystem>

#include "compile/compiler.hpp"
#include "kernel_file.hpp"

namespace cudal1::conformance {

struct CompiledCase {
  std::string ptx;
  std::map<std::string, std::string> symbols;  //!< kernel as written -> entry
};

//! By clang, for the newest target that it knows. Throws Error with the compiler's log.
CompiledCase compile(const Case& given);

// A folder of compiled cases, for machines that have a GPU and no clang. Both throw Error.
void store_compiled(const std::filesystem::path& folder, const Case& given, const CompiledCase& compiled);
CompiledCase load_compiled(const std::filesystem::path& folder, const Case& given);

}  // namespace cudal1::conformance
