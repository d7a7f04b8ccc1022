// PTX of a case.
#pragma once

#include "compile/compiler.hpp"
#include "kernel_file.hpp"

namespace cudal1::conformance {

struct CompiledCase {
  std::string ptx;
  std::map<std::string, std::string> symbols;  //!< kernel as written -> entry
};

//! By clang, for the newest target that it knows. Throws Error with the compiler's log.
CompiledCase compile(const Case& given);

}  // namespace cudal1::conformance
