// Compilers are started before anybody can use what they make: the next process that asks for the same finds it in
// PyTorch's cache, within a tenth of the time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1 {

//! Those of the baselines that compile.
std::vector<std::string> compiled_baselines(const std::vector<std::string>& baselines);

struct CompileJob {
  std::filesystem::path module;
  std::string device;
  std::vector<std::string> baselines;  //!< that compile
  int nodes = 0;                       //!< of the module's graph: large ones have several threads
};

//! In a process of its own, which then goes with all its memory. Returns what took how long, in the baselines' order.
//! Throws Error where that came to nothing, which is nobody's concern yet: whoever needs it tries again.
std::vector<std::pair<std::string, double>> compile_ahead(const CompileJob& job);

}  // namespace cudal1
