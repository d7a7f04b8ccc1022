#include "parity/parity.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/random.hpp"
#include "bridge/bridge_process.hpp"
#include "graph/torch_errors.hpp"
#include "judge/compared_place.hpp"
#include "judge/degenerate.hpp"
#include "judge/error_sums.hpp"
#include "judge/judge.hpp"
#include "judge/match.hpp"
#include "parity/tensor_file.hpp"

namespace cudal1 {
namespace {

//! A CPU has no TF32, and eager PyTorch does not pretend; on a GPU both sides run with PyTorch's defaults.
PrecisionPolicy precision_on(at::Device device) {
  return device.is_cpu() ? PrecisionPolicy::strict : PrecisionPolicy::standard;
}

const std::string& name_of(const Task& task, ValueId id) {
  return task.graph.values[static_cast<std::size_t>(id)].name;
}

//! Outputs, then states, as the match rule lists them.
std::vector<at::Tensor> run_eager(const Task& task, const TensorTable& leaves, const ParityRequest& request) {
  const TemporaryFolder scratch;
  NamedTensors inputs;
  for (const ValueId id : task.graph.inputs) inputs.emplace(name_of(task, id), leaves[static_cast<std::size_t>(id)]);
  save_tensors(inputs, scratch.path() / "inputs");
  run_bridge(
      "cudal1_bridge.eager",
      {request.module.string(), "--task", request.folder.string(), "--inputs", (scratch.path() / "inputs").string(),
       "--device", request.device, "-o", (scratch.path() / "outputs").string()},
      request.module.string(), scratch.path() / "outputs");
  const NamedTensors given = load_tensors(scratch.path() / "outputs");
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < task.graph.outputs.size(); ++i) wanted.push_back(std::to_string(i));
  for (const ValueId id : task.graph.states) wanted.push_back(fmt::format("state/{}", name_of(task, id)));
  if (given.size() != wanted.size())
    throw Error(fmt::format("eager PyTorch gives {} tensors, the task {}", given.size(), wanted.size()));
  std::vector<at::Tensor> results;
  for (const std::string& name : wanted) results.push_back(given.at(name));
  return results;
}

std::string describe(const at::Tensor& tensor) {
  return fmt::format("{}{}", c10::toString(tensor.scalar_type()), c10::str(tensor.sizes()));
}

class Comparison {
 public:
  Comparison(const MatchRule& rule, const Expected& expected) : rule_(rule), expected_(expected) {}

  //! `eager` where it is compared.
  void run(const std::vector<at::Tensor>& eager, ParityReport& report) {
    report.budget_share = 0.0;
    report.equal_bits = true;
    for (std::size_t i = 0; i < eager.size(); ++i) {
      const at::Tensor& ours = expected_.reference[i];
      if (eager[i].scalar_type() != ours.scalar_type() || !eager[i].sizes().equals(ours.sizes()))
        throw Error(
            fmt::format("result {} is {} in eager PyTorch and {} in the task", i, describe(eager[i]), describe(ours)));
    }
    const auto errors = rule_.compare(expected_, eager, Distribution::native);
    for (std::size_t i = 0; i < eager.size(); ++i) add(errors[i], eager[i], i, report);
  }

 private:
  void add(const OutputError& error, const at::Tensor& eager, std::size_t index, ParityReport& report) const {
    const at::Tensor& ours = expected_.reference[index];
    if (eager.equal(ours)) return;
    report.equal_bits =
        report.equal_bits && at::equal(eager.isnan(), ours.isnan()) && eager.nan_to_num().equal(ours.nan_to_num());
    const double budget = expected_.budgets[index].max;
    const double distance =
        eager.is_floating_point() ? errors_of(eager, ours.to(at::kDouble), ours.scalar_type()).largest : 0.0;
    const double share = std::max(error.margin(), distance > 0.0 ? distance / budget : 0.0);
    report.budget_share = std::max(*report.budget_share, share);
    if (!report.error.empty() || (error.matches() && share <= 1.0)) return;
    report.error = error.mismatches > 0
                       ? fmt::format("'{}': {} elements are not finite, or not equal, where they must be", error.output,
                                     error.mismatches)
                       : fmt::format(
                             "'{}': {:.3g} of the error budget lies between the task and eager "
                             "PyTorch (largest distance {:.3g})",
                             error.output, share, distance);
  }

  const MatchRule& rule_;
  const Expected& expected_;
};

}  // namespace

ParityReport compare_with_eager(const ParityRequest& request) {
  const Task task = load_task_with_metas(request.folder);
  const at::Device device = request.device == "cuda" ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
  Random random(request.seed);
  ParityReport report;
  report.nodes = static_cast<int>(task.graph.nodes.size());
  with_torch_errors(task.name, [&] {
    const MatchRule rule(task, device, precision_on(device));
    const TensorTable constants = draw_constants(task, random, false, device);
    TensorTable leaves = constants;
    draw_inputs(task, Distribution::native, random.next(), device, leaves);
    std::vector<at::Tensor> eager = run_eager(task, leaves, request);
    for (at::Tensor& result : eager) result = result.to(device);
    eager = where_compared(std::move(eager));
    Comparison(rule, rule.expect(leaves, Distribution::native, random.next())).run(eager, report);
    report.degenerate = task.degenerate || input_dependence(rule, task, constants, device, random).degenerate;
  });
  return report;
}

}  // namespace cudal1
