#include "sparse_run.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <c10/core/Scalar.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <span>

#include "base/value_or_throw.hpp"
#include "compile/clang_compiler.hpp"
#include "device/vgpu/vgpu_plan.hpp"
#include "graph/executor.hpp"
#include "graph/tensor_at.hpp"
#include "writer/write_program.hpp"

namespace cudal1::testing {
namespace {

constexpr std::uint64_t page_bytes = 4096;
const ExecutorOptions exact{.precision = PrecisionPolicy::strict};

//! Pages come into being where they are written; those that are only read are one page of zeros.
class ReservedMemory {
 public:
  explicit ReservedMemory(std::uint64_t bytes) : bytes_(bytes) {
    void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw Error(fmt::format("cannot reserve {} bytes of addresses", bytes));
    base_ = static_cast<std::byte*>(mapped);
  }
  ~ReservedMemory() { ::munmap(base_, bytes_); }
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;
  std::span<std::byte> bytes() const { return {base_, bytes_}; }

 private:
  std::byte* base_;
  std::uint64_t bytes_;
};

struct Placement {
  BufferOffsets offsets;
  std::uint64_t bytes = 0;
};

bool is_returned(const Plan& plan, std::size_t buffer) {
  return std::ranges::any_of(plan.outputs,
                             [&](ValueId id) { return plan.values[id].buffer == static_cast<int>(buffer); });
}

Placement placed(const Plan& plan) {
  Placement made;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const bool is_made_by_op = plan.buffers[i].allocated_by_op && !is_returned(plan, i);
    made.offsets.push_back(is_made_by_op ? no_offset : made.bytes);
    const auto bytes = static_cast<std::uint64_t>(plan.buffers[i].meta.span_bytes());
    made.bytes += (bytes / page_bytes + 2) * page_bytes;
  }
  return made;
}

//! What the machine has before a call, and after it.
class SparseMachine {
 public:
  SparseMachine(const OpGraph& graph, const std::string& program, std::uint64_t sample_blocks)
      : graph_(graph),
        plan_(value_or_throw(plan_program(graph, program), "plan")),
        placement_(placed(plan_)),
        memory_(placement_.bytes),
        profile_(vgpu::find_profile("h200")) {
    static ClangCompiler compiler;
    CompiledModule module;
    if (plan_.has_launches())
      module = value_or_throw(compiler.compile({plan_.code, plan_.kernels, compiler.target_for("sm_90")}), "compile");
    std::unique_ptr<OpRuntime> ops;
    if (plan_.has_op_steps()) ops = make_op_runtime(plan_, {});
    loaded_ = std::make_unique<vgpu::VgpuPlan>(plan_, module, profile_, vgpu::CheckOptions{}, memory_.bytes(),
                                               std::move(ops), sample_blocks);
  }

  at::Tensor tensor(ValueId id) const {
    const TensorRef& ref = plan_.values[static_cast<std::size_t>(id)];
    const std::uint64_t offset = placement_.offsets[static_cast<std::size_t>(ref.buffer)];
    return tensor_at(memory_.bytes().data() + offset + ref.byte_offset, ref.meta, at::kCPU);
  }

  //! Rewrites may have made another value of it than the task's graph has.
  at::Tensor output(std::size_t index) const { return tensor(plan_.outputs[index]); }

  //! Tensors of all inputs, weights and states that the plan needs.
  TensorTable leaves() const {
    TensorTable table(graph_.values.size());
    for (const auto* ids : {&graph_.inputs, &graph_.weights, &graph_.states})
      for (const ValueId id : *ids)
        if (plan_.values[static_cast<std::size_t>(id)].buffer >= 0) table[static_cast<std::size_t>(id)] = tensor(id);
    return table;
  }

  //! Empty, or what was found.
  std::string run() {
    loaded_->prepare(placement_.offsets);
    const CallTimes times = loaded_->call(placement_.offsets, {});
    return times.findings.empty() ? std::string() : times.findings.front().message;
  }

 private:
  const OpGraph& graph_;
  Plan plan_;
  Placement placement_;
  ReservedMemory memory_;
  vgpu::GpuProfile profile_;
  std::unique_ptr<vgpu::VgpuPlan> loaded_;
};

void draw(const at::Tensor& tensor, at::Generator& generator) {
  if (at::isFloatingType(tensor.scalar_type()))
    tensor.normal_(0.0, 1.0, generator);
  else
    tensor.random_(-100, 100, generator);
}

std::string difference(const std::string& name, const at::Tensor& found, const at::Tensor& expected) {
  if (!found.sizes().equals(expected.sizes())) return name + " has another size";
  const double tolerance = found.scalar_type() == at::kFloat ? 1e-4 : 1e-2;
  const at::Tensor a = found.to(at::kDouble), b = expected.to(at::kDouble);
  if (at::allclose(a, b, tolerance, tolerance, true)) return {};
  return fmt::format("{} is off by up to {}", name, a.sub(b).abs().max().item().toDouble());
}

//! The last elements of each dimension.
at::Tensor last_of(at::Tensor tensor, at::IntArrayRef sizes) {
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const auto dimension = static_cast<std::int64_t>(d);
    tensor = tensor.narrow(dimension, tensor.size(dimension) - sizes[d], sizes[d]);
  }
  return tensor;
}

template <class Run>
std::string verdict_of(const Run& run) {
  try {
    const std::string problem = run();
    return problem.empty() ? "ok" : problem;
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::string sparse_verdict(const TaskText& task, const std::string& program) {
  return verdict_of([&]() -> std::string {
    const OpGraph graph = graph_of(task);
    SparseMachine machine(graph, program, 0);
    at::Generator generator = at::detail::createCPUGenerator(7);
    const TensorTable leaves = machine.leaves();
    for (const at::Tensor& leaf : leaves)
      if (leaf.defined()) draw(leaf, generator);
    const ExecutionResult expected = Executor(graph, exact).run(leaves);  // before the machine changes states
    std::string problem = machine.run();
    for (std::size_t i = 0; i < graph.outputs.size() && problem.empty(); ++i)
      problem = difference("an output", machine.output(i), expected.outputs[i]);
    for (std::size_t i = 0; i < graph.states.size() && problem.empty(); ++i)
      problem = difference("a state", machine.tensor(graph.states[i]), expected.states[i]);
    return problem;
  });
}

std::string corner_verdict(const TaskText& task, const TaskText& corner, const std::string& program) {
  return verdict_of([&]() -> std::string {
    const OpGraph graph = graph_of(task), small = graph_of(corner);
    SparseMachine machine(graph, program, 2);
    at::Generator generator = at::detail::createCPUGenerator(7);
    TensorTable leaves = machine.leaves(), lasts(small.values.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (!leaves[i].defined()) continue;
      lasts[i] = last_of(leaves[i], small.values[i].meta.sizes);
      draw(lasts[i], generator);
    }
    const ExecutionResult expected = Executor(small, exact).run(lasts);
    const std::string problem = machine.run();
    if (!problem.empty()) return problem;
    return difference("the last corner", last_of(machine.output(0), expected.outputs[0].sizes()), expected.outputs[0]);
  });
}

}  // namespace cudal1::testing
