// A Python process that runs a module in PyTorch's own ways, one call at a time (python/cudal1_bridge/worker.py).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/line_socket.hpp"

namespace cudal1 {

//! Where PyTorch's compiler keeps what it has made for workers.
std::filesystem::path inductor_cache();

//! Trusted, as the module is: programs come to it as packages that were judged before. All functions throw Error: one
//! line that says what the worker could not do, or how it ended; after that it is of no use.
class ModuleWorker {
 public:
  //! `device`: "cpu" or "cuda". `compile_threads`: how many torch.compile may take; 0: as many as PyTorch wants.
  ModuleWorker(const std::filesystem::path& module, const std::string& device, int compile_threads = 0);

  std::vector<std::string> ways();
  //! Returns how long that took, in seconds. Compilers may take minutes.
  double make(const std::string& way);
  //! For PyTorch's cache alone: kernels are compiled, but not tried against each other. Such a worker times nothing.
  double compile(const std::string& way);
  //! The way "program": the package's ModelNew.
  double make_program(const std::filesystem::path& package);
  //! What calls are made on from now on.
  void draw_inputs(std::uint64_t seed);

  struct Times {
    double device_ms = 0.0, host_ms = 0.0;
  };
  Times time(const std::string& way);

  //! New inputs, on which every way is called once, in this order.
  struct Round {
    std::uint64_t seed = 0;
    std::vector<std::string> order;
  };
  //! By way. Stops when the time is up, but not before `least` rounds.
  std::vector<std::map<std::string, Times>> time_rounds(const std::vector<Round>& rounds, double seconds, int least);

  //! False once it has ended: what it could not do cost it its life.
  bool is_running() { return child_.running(); }

  //! Safe from other threads: it takes no processor time until it may go on.
  void pause() const { child_.pause(); }
  void resume() const { child_.resume(); }
  void end() const { child_.end(); }

  struct Difference {
    double error = 0.0, scale = 0.0;
    double own_error = 0.0;  //!< where the error is large: of eager itself, in full fp32 or from inputs moved by an ulp
  };
  //! From eager, on these inputs, of the result that is off by most for its size: the largest difference, and the
  //! largest number. None where the module draws random numbers.
  Difference compare(const std::string& way);

 private:
  nlohmann::json ask(const nlohmann::json& request, std::chrono::seconds limit);
  std::string read_line(std::chrono::steady_clock::time_point deadline);
  [[noreturn]] void fail_ended();

  std::string subject_;
  TemporaryFolder scratch_;
  LineSocket socket_;
  ChildProcess child_;
};

}  // namespace cudal1
