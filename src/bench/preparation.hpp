// What has to be known about a task's program before anything is measured: is it correct, and its package.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/program_source.hpp"
#include "judge/backend.hpp"
#include "report/bench_row.hpp"

namespace cudal1 {

struct PreparationRequest {
  std::filesystem::path task;    //!< a task folder
  std::filesystem::path module;  //!< the Python file it was made from; empty: a native task
  ProgramChoice program;
  std::string device;  //!< "cuda", "vgpu", or "cpu": verified on the virtual GPU, timed on the processor
  std::string gpu;     //!< whose times the virtual GPU predicts
  bool verify = true;
  double seconds = 1.5;                //!< of measuring a call, at most; for solutions in Python, which are timed here
  bool caller_shares_gpu = false;      //!< holds its lock until the preparation is over
  std::vector<std::string> baselines;  //!< for devices that predict
  std::filesystem::path package;       //!< the folder to make; not made where times are predicted
};

struct Preparation {
  std::string status, error;  //!< as in BenchRow
  std::string program;        //!< where it comes from
  bool own_kernels = false, degenerate = false, predicted = false;
  std::string device;
  int nodes = 0;               //!< of the task's graph: how long compilers may take
  std::vector<WayTimes> ways;  //!< predicted ones
  //! Of a solution in Python: eager's time over its own, pair by pair. Not empty: it was timed, and has no package.
  std::vector<double> ratios;
  std::vector<std::pair<std::string, double>> stages;  //!< what took how many seconds, in their order
  std::uint64_t peak_tensor_bytes = 0;                 //!< of the judge itself, to compare with its estimate
  bool is_ready() const { return status == "ok"; }
};

//! Of a task that came to nothing, for no fault of its program.
Preparation failed_preparation(const std::string& error);

nlohmann::json to_json(const PreparationRequest& request);
PreparationRequest preparation_request_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Preparation& preparation);
Preparation preparation_from_json(const nlohmann::json& json);

//! `device`: "cuda" or "vgpu".
using MakeBackend = std::function<std::shared_ptr<Backend>(const std::string& device, const std::string& gpu)>;

//! Throws Error when the task cannot be read, or what else is nobody's program's fault.
Preparation prepare(const PreparationRequest& request, const MakeBackend& make_backend);

}  // namespace cudal1
