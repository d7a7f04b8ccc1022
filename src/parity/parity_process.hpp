// A comparison in a process of its own: a task that crashes or takes all memory is a row, not the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "parity/parity_report.hpp"

namespace cudal1 {

struct ParityRequest {
  std::filesystem::path folder, module;  //!< the task, and the Python file that it was made from
  std::string device = "cpu";            //!< or cuda
  std::uint64_t seed = 0;                //!< of the inputs
  int threads = 0;                       //!< of both sides; 0: as many as they like
};

//! Whatever happens becomes the report's error.
ParityReport run_parity_process(const ParityRequest& request);

}  // namespace cudal1
