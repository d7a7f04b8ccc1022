// The process of one solution: Python under restrictions, asked one thing at a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/channel.hpp"
#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "device/arena.hpp"
#include "dialect/process_watch.hpp"

namespace cudal1 {

struct SolutionProcessOptions {
  std::string device = "cpu";                   //!< or cuda
  std::vector<std::filesystem::path> readable;  //!< besides the system's and Python's folders
  std::uint64_t memory_bytes = 0;               //!< of the host, for all it starts together; 0: a share of what is free
};

//! Failures of the solution are values; Error is thrown where our own parts do not start. It may write to a scratch
//! folder, which goes with it, and nowhere else.
class SolutionProcess {
 public:
  SolutionProcess(const SolutionProcessOptions& options, const Arena& arena);
  ~SolutionProcess();

  //! The device starts, then the process restricts itself; nothing else can be asked before.
  std::optional<Failure> start();
  //! The answer, or what the process says went wrong, or how it ended. Longer than `limit` ends it, with `overdue`.
  Result<nlohmann::json> ask(const nlohmann::json& request, std::chrono::milliseconds limit, Status overdue);

  bool alive() { return child_.running(); }
  const ProcessWatch& watch() const { return watch_; }
  //! A place for the solution's text.
  std::filesystem::path text_path() const { return scratch_.path() / "solution.py"; }

 private:
  Failure death();

  TemporaryFolder scratch_, messages_;
  Channel channel_;
  ChildProcess child_;
  ProcessWatch watch_;
  bool answered_ = false;
  std::uint64_t memory_bytes_;
};

}  // namespace cudal1
