// The judge's side: starts a runner, talks to it, kills it in time.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/channel.hpp"
#include "base/child_process.hpp"
#include "base/result.hpp"
#include "device/arena.hpp"
#include "device/device.hpp"

namespace cudal1 {

struct RunnerOptions {
  std::filesystem::path executable;
  std::vector<std::filesystem::path> readable;  //!< besides the system's folders
  std::vector<std::filesystem::path> writable;  //!< device files
  std::vector<std::string> arguments;           //!< of this kind of runner
  std::optional<CompiledModule> runtime_kernels;
  std::uint64_t memory_bytes = 0;  //!< of the host, besides the arena; 0: a share of what is free when it starts
  bool use_bubblewrap = true;      //!< where bwrap works; the runner restricts itself in any case
  std::chrono::milliseconds start_limit{120000};
};

//! One runner process. Every function returns a failure instead of waiting longer than its limit; after a failure that
//! ended the process, alive() is false.
class RunnerProcess {
 public:
  struct Done {};
  static Result<RunnerProcess> start(const RunnerOptions& options);
  //! A process that has not touched the device yet. What follows comes in two halves, so that several runners can do it
  //! at the same time: begin_…() returns at once, finish() waits for the answer.
  static Result<RunnerProcess> spawn(const RunnerOptions& options);
  //! Until it is there and, for plans with op steps, has opened their library: most of a start, and nobody who uses the
  //! device notices.
  void begin_wake(bool with_library);
  //! Opens the device.
  void begin_start(const RunnerOptions& options);
  void begin_load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags);
  Result<Done> finish();

  Result<Done> map(const Arena& arena, const ArenaLayout& layout);
  Result<Done> load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags);
  Result<Done> prepare(const BufferOffsets& offsets, std::chrono::milliseconds limit);
  //! A call follows within milliseconds: the runner waits for it without sleeping.
  void get_ready();
  //! Of the options, `hold_device` and `time_steps` count.
  Result<CallTimes> call(const BufferOffsets& offsets, std::chrono::milliseconds limit,
                         const CallOptions& options = {});
  Result<Done> unload();

  bool alive() { return process_.running(); }
  pid_t pid() const { return process_.pid(); }

 private:
  std::optional<Failure> post(const nlohmann::json& request, const std::vector<int>& descriptors,
                              std::chrono::milliseconds limit);
  Result<nlohmann::json> collect(std::chrono::milliseconds left, std::chrono::milliseconds limit);
  Result<nlohmann::json> ask(const nlohmann::json& request, const std::vector<int>& descriptors,
                             std::chrono::milliseconds limit);
  Result<Done> ask_for_done(const nlohmann::json& request, const std::vector<int>& descriptors,
                            std::chrono::milliseconds limit);
  Failure death();
  Failure overdue(std::chrono::milliseconds limit);
  ChildProcess process_;
  Channel channel_;
  std::chrono::milliseconds set_up_limit_{120000};
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace cudal1
