#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace cudal1 {

struct CompileRequest {
  std::string source;
  std::vector<std::string> kernels;  //!< names as the program writes them; templates allowed: "softmax<256>"
  std::string target;                //!< "sm_90"
};

struct CompiledModule {
  std::string binary;                          //!< a cubin, or whatever the device of that target loads
  std::map<std::string, std::string> symbols;  //!< kernel as written -> symbol in the binary
  std::string log;                             //!< warnings
  double seconds = 0.0;
  bool from_cache = false;
};

//! Source -> binary. Safe to call from many threads; each compile is a process of its own.
class Compiler {
 public:
  virtual ~Compiler() = default;
  //! Failures: compile_error (log in details, first error's line in `at`), compile_timeout, forbidden, judge_error.
  virtual Result<CompiledModule> compile(const CompileRequest& request) = 0;
  //! What it compiles for where `asked` is asked for.
  virtual std::string target_for(const std::string& asked) const { return asked; }
};

}  // namespace cudal1
