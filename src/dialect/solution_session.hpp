// A solution in its process, and the judge's hands on what goes in and comes out.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "device/device.hpp"
#include "dialect/solution_device.hpp"
#include "dialect/solution_process.hpp"
#include "dialect/solution_task.hpp"
#include "graph/executor.hpp"

namespace cudal1 {

//! What runs in a session: a solution's text, or the reference's file.
struct SolutionProgram {
  std::string class_name = "ModelNew";
  std::string text;
  std::filesystem::path file;  //!< not empty: read in place of the text, with its neighbours
};

//! One call, by four clocks.
struct SolutionTimes {
  double device_ms = 0.0;  //!< events around the call, by the process's own word
  double joined_ms = 0.0;  //!< the same until all streams are done
  double call_ms = 0.0;    //!< the judge's clock: from "call" to its answer, the device being idle then
  double total_ms = 0.0;   //!< the judge's clock: from before the inputs are there until the results are in its hands
};

struct SolutionLimits {
  std::chrono::milliseconds load{300'000};  //!< import, construction, compilers; of a first call, where it may compile
  std::chrono::milliseconds call{1000};
};

class SolutionSession {
 public:
  struct Done {};

  SolutionSession(const SolutionTask& task, const SolutionDevice& device, SolutionProgram program, PrecisionFlags flags,
                  std::uint64_t seed);

  //! A new process. `required`: by weight, whether its values change when weights are drawn anew.
  Result<Done> start(const std::vector<bool>& required, std::chrono::milliseconds limit);
  void stop() { process_.reset(); }
  bool alive() { return process_ && process_->alive(); }

  //! Writes weights into the model, which exists already.
  Result<Done> set_constants(const TensorTable& constants);

  //! One call on these inputs, at new addresses. The process sees them when the clock runs, not before.
  Result<SolutionTimes> call(const TensorTable& leaves, const SolutionLimits& limits);

  //! Outputs, then states, of the last call; valid until the next.
  std::vector<at::Tensor> results() const;

  //! What the last call did to its inputs and the memory around them, until it said that it was done.
  const std::optional<Failure>& violation() const { return violation_; }
  //! Are the weights what was written?
  std::optional<Failure> find_changed_weight();

  const ProcessWatch& watch() const { return process_->watch(); }

 private:
  struct Window {
    std::uint64_t offset = 0;
    TensorMeta meta;
  };

  void plan_memory();
  at::Tensor at(const Window& window) const;
  at::Tensor bytes_at(std::uint64_t offset, std::uint64_t bytes) const;
  nlohmann::json to_json(const Window& window) const;
  nlohmann::json leaves_json(const std::vector<ValueId>& values, const std::vector<Window>& windows) const;
  std::string key_of(ValueId value) const;
  void choose_places();
  void prepare_inputs(const TensorTable& leaves);
  void take_inputs_away();
  std::optional<Failure> found_violation() const;
  void flush_caches();
  std::chrono::milliseconds limit_of_next_call(const SolutionLimits& limits);
  Result<Done> done(Result<nlohmann::json> answer) const;

  const SolutionTask& task_;
  const SolutionDevice& device_;
  SolutionProgram program_;
  PrecisionFlags flags_;
  Random random_;
  std::unique_ptr<Arena> arena_;
  std::vector<Window> weights_, states_, inputs_, outputs_;
  std::uint64_t inputs_begin_ = 0, inputs_end_ = 0, outputs_begin_ = 0, total_bytes_ = 0, roaming_bytes_ = 0;
  TensorTable constants_;
  at::Tensor prepared_;  // the inputs' part of the arena as it must be during a call
  at::Tensor flush_buffer_;
  bool results_show_inputs_ = false;  // results may lie in the inputs' memory
  bool called_ = false;
  std::optional<Failure> violation_;
  std::unique_ptr<SolutionProcess> process_;  // last: it uses the arena
};

}  // namespace cudal1
