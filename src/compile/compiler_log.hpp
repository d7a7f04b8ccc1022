#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cudal1 {

//! The first error of a compiler log: its place in the program, and one line that a person or a model can act on.
struct CompilerDiagnosis {
  SourcePosition at;
  std::string message;  //!< "program.cu(12): identifier "x" is undefined"
  //! What the compiler calls the place where that is not in program.cu: a header, or what `#line` made of it.
  std::string other_file = {};
  int other_line = 0;
};

CompilerDiagnosis first_error(std::string_view log);

//! The same with the line that the program's text has, whatever `#line` calls it; line 1 where that cannot be found.
CompilerDiagnosis with_own_line(CompilerDiagnosis diagnosis, std::string_view source);

}  // namespace cudal1
