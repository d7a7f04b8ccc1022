#pragma once

#include <map>
#include <mutex>
#include <string>

#include "compile/compiler.hpp"

namespace cudal1 {

//! Program text -> shared library for HostDevice, by the compiler that built the tests. Test support only.
class HostCompiler : public Compiler {
 public:
  static constexpr const char* target = "host";
  Result<CompiledModule> compile(const CompileRequest& request) override;

 private:
  std::mutex mutex_;
  std::map<std::string, CompiledModule> cache_;  //!< by a hash of source and kernels; successes only
};

}  // namespace cudal1
