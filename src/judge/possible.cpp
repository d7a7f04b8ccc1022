#include "judge/possible.hpp"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/value_or_throw.hpp"

namespace cudal1 {
namespace {

constexpr int launch_calls = 25;
constexpr int elements_tried = 16;

constexpr const char* tiny_task = R"json({
  "format": "cudal1.graph", "version": 1, "name": "one_launch",
  "inputs": [{"name": "x", "dtype": "f32", "shape": [32], "draw": {"kind": "normal", "mean": 0, "std": 1}}],
  "nodes": [{"name": "neg_1", "op": "aten::neg", "args": ["x"]}],
  "outputs": ["neg_1"]})json";

constexpr const char* tiny_program = R"cuda(
//! kernel negate replaces neg_1 : grid=1 block=32 args=(x, neg_1)
extern "C" __global__ void negate(const float* x, float* y) { y[threadIdx.x] = -x[threadIdx.x]; }
)cuda";

template <class T>
T must(Result<T> result) {
  return value_or_throw(std::move(result), "cannot measure an empty launch");
}

//! The same tensor with one random element taken from another draw: a valid value, whatever the input means.
at::Tensor with_one_element_changed(const at::Tensor& tensor, const at::Tensor& other, Random& random) {
  at::Tensor changed = tensor.contiguous().clone();
  const auto position = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(changed.numel())));
  changed.view({-1})[position].copy_(other.contiguous().view({-1})[position]);
  return changed;
}

}  // namespace

double measure_launch_floor_ms(Backend& backend, std::uint64_t seed) {
  Task task = parse_task(tiny_task, {});
  infer_metas(task);
  const Plan plan = must(make_plan(task.graph, tiny_program));
  const CompiledModule module = must(backend.compiler().compile({plan.code, plan.kernels, backend.info().target}));
  PlanSession session(backend, seed);
  must(session.load(plan, module, {}));
  const at::Device device = backend.tensors_on_cuda() ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
  TensorTable leaves(task.graph.values.size());
  draw_inputs(task, Distribution::native, seed, device, leaves);
  must(session.set_constants(leaves, std::chrono::seconds(10)));
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < launch_calls; ++i)
    fastest =
        std::min(fastest, must(session.call(leaves, Poison::not_a_number, std::chrono::seconds(10), true)).device_ms);
  return fastest;
}

double input_bytes_that_matter(const TaskContext& context, const TensorTable& constants, Random& random) {
  return input_bytes_that_matter(context.rule(), context.task(), context.tensor_device(), constants, random);
}

double input_bytes_that_matter(const MatchRule& rule, const Task& task, at::Device device, const TensorTable& constants,
                               Random& random) {
  double bytes = 0.0;
  TensorTable leaves = constants, others = constants;
  draw_inputs(task, Distribution::native, random.next(), device, leaves);
  draw_inputs(task, Distribution::native, random.next(), device, others);
  const auto before = rule.oracle(leaves);
  for (const ValueId id : task.graph.inputs) {
    const auto index = static_cast<std::size_t>(id);
    if (leaves[index].numel() == 0) continue;
    int moved = 0;
    for (int trial = 0; trial < elements_tried; ++trial) {
      TensorTable changed = leaves;
      changed[index] = with_one_element_changed(leaves[index], others[index], random);
      const auto after = rule.oracle(changed);
      bool same = true;
      for (std::size_t i = 0; i < after.size(); ++i) same = same && after[i].equal(before[i]);
      moved += same ? 0 : 1;
    }
    const TensorMeta& meta = task.graph.values[index].meta;
    bytes += static_cast<double>(meta.numel() * size_in_bytes(meta.dtype)) * moved / elements_tried;
  }
  return bytes;
}

double all_input_bytes(const Task& task) {
  double bytes = 0.0;
  for (const ValueId id : task.graph.inputs) {
    const TensorMeta& meta = task.graph.values[static_cast<std::size_t>(id)].meta;
    bytes += static_cast<double>(meta.numel() * size_in_bytes(meta.dtype));
  }
  return bytes;
}

}  // namespace cudal1
