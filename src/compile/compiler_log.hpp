#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cudal1 {

//! The first error of a compiler log: its place in the program, and one line that a person or a model can act on.
struct CompilerDiagnosis {
  SourcePosition at;
  std::string message;  //!< "program.cu(12): identifier "x" is undefined"
};

CompilerDiagnosis first_error(std::string_view log);

}  // namespace cudal1
