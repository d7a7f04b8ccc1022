// Compilers are started before anybody can use what they make: the next process that asks for the same finds it in
// PyTorch's cache, within a tenth of the time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1 {

//! A large graph takes compilers minutes.
bool is_large_graph(int nodes);
//! That a compiler may take.
int compile_threads(int nodes);

//! Those of the baselines that compile.
std::vector<std::string> compiled_baselines(const std::vector<std::string>& baselines);

struct CompileJob {
  std::filesystem::path module;
  std::string device;
  std::vector<std::string> baselines;  //!< that compile
  int nodes = 0;                       //!< of the module's graph: large ones have several threads
};

//! The baselines of a large graph are compiled side by side.
std::vector<CompileJob> compile_jobs(const CompileJob& whole);

//! In a process of its own, which then goes with all its memory. Returns what took how long, in the baselines' order.
//! Throws Error where that came to nothing, which is nobody's concern yet: whoever needs it tries again.
std::vector<std::pair<std::string, double>> compile_ahead(const CompileJob& job);

}  // namespace cudal1
