#include "package/exported_plan.hpp"

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>

#include "graph/tensor_at.hpp"
#include "package/torch_cuda.hpp"

namespace cudal1 {
namespace {

// The widest access of a thread; the judge's buffers are aligned to more, so programs may count on it.
constexpr std::uintptr_t input_alignment = 16;

//! Strides of a dimension with one element mean nothing.
bool same_strides(const at::Tensor& tensor, const TensorMeta& meta) {
  const at::IntArrayRef strides = tensor.strides();
  for (std::size_t i = 0; i < meta.sizes.size(); ++i)
    if (meta.sizes[i] > 1 && strides[i] != meta.strides[i]) return false;
  return true;
}

PlanKernels kernels_of(const Plan& plan, KernelImages& images, at::Device device) {
  if (!plan.has_launches()) return PlanKernels(plan);
  if (!device.is_cuda()) throw Error("its kernels run on a GPU only");
  current_stream(device);  // makes PyTorch start the device, whose context is ours as well
  return {plan, images, device.index()};
}

}  // namespace

const char* does_not_fit(const at::Tensor& tensor, const PackagedLeaf& leaf, at::Device device) {
  if (!tensor.defined()) return "is missing";
  if (tensor.layout() != at::kStrided || tensor.is_neg() || tensor.is_conj()) return "has another layout";
  if (tensor.device() != device) return "lies on another device";
  if (tensor.scalar_type() != to_scalar_type(leaf.meta.dtype)) return "has another dtype";
  if (tensor.sizes() != at::IntArrayRef(leaf.meta.sizes)) return "has other sizes";
  if (!same_strides(tensor, leaf.meta)) return "has other strides";
  if (reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % input_alignment != 0) return "is not aligned";
  return nullptr;
}

at::Tensor placed(const at::Tensor& weight, const PackagedLeaf& leaf, at::Device device) {
  const bool can_be_moved = leaf.is_constant && weight.defined() && !weight.is_meta();
  return can_be_moved ? weight.detach().to(device) : weight;
}

bool is_being_captured(at::Device device) {
  return cuda::is_being_captured(static_cast<CUstream>(current_stream(device)));
}

void ExportedPlan::Call::place(std::size_t buffer, const at::Tensor& tensor) {
  addresses[buffer] = static_cast<std::byte*>(tensor.data_ptr());
  owners[buffer] = tensor;
}

ExportedPlan::ExportedPlan(const PackagedPlan& packaged, KernelImages& kernels, at::Device device)
    : packaged_(packaged),
      plan_(packaged_.plan),
      device_(device),
      kernels_(kernels_of(plan_, kernels, device)),
      bound_(plan_.buffers.size()),
      bound_addresses_(plan_.buffers.size(), nullptr) {
  if (plan_.has_op_steps()) op_steps_.emplace(plan_, device_, RandomNumbers::of_the_caller);
}

ExportedPlan::~ExportedPlan() = default;

at::Tensor ExportedPlan::empty_like(const TensorMeta& meta) const {
  const at::ScalarType type = to_scalar_type(meta.dtype);
  if (device_.is_cuda()) return empty_on_gpu(meta.sizes, meta.strides, type, device_);
  return at::empty_strided(meta.sizes, meta.strides, at::TensorOptions(type).device(device_));
}

void ExportedPlan::bind(at::TensorList weights, at::TensorList states) {
  const c10::NoGradGuard no_gradients;
  // Earlier calls, on whatever stream, may still read what `prepare` writes.
  if (has_run_ && device_.is_cuda() && (!plan_.prepare.empty() || !graphs_.empty()))
    cuda::check(cuda::driver().cuCtxSynchronize(), "wait for earlier calls");
  const auto set = [&](const std::vector<PackagedLeaf>& leaves, at::TensorList tensors) {
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (leaves[i].buffer >= 0) bound_[static_cast<std::size_t>(leaves[i].buffer)] = tensors.at(i).detach();
  };
  set(packaged_.weights, weights);
  set(packaged_.states, states);
  for (std::size_t i = 0; i < bound_.size(); ++i)
    if (plan_.buffers[i].role == BufferRole::prepared && !bound_[i].defined())
      bound_[i] = empty_like(plan_.buffers[i].meta);
  std::vector<std::byte*> addresses(bound_.size(), nullptr);
  for (std::size_t i = 0; i < bound_.size(); ++i)
    if (bound_[i].defined()) addresses[i] = static_cast<std::byte*>(bound_[i].data_ptr());
  if (addresses != bound_addresses_) graphs_.clear();
  bound_addresses_ = std::move(addresses);
  prepare();
}

void ExportedPlan::prepare() {
  if (plan_.prepare.empty()) return;
  Call call = begin_call({});
  place_workspace(kernels_.prepare.workspace, call);
  if (op_steps_) set_values(call);
  const auto prepare_by_library = [&](std::size_t index, CUstream) { op_steps_->prepare(index, call.values); };
  kernels_.prepare.run(plan_, call.addresses, call.stream, std::ref(prepare_by_library));
  if (device_.is_cuda()) cuda::check(cuda::driver().cuStreamSynchronize(call.stream), "prepare the weights");
}

ExportedPlan::Call ExportedPlan::begin_call(at::TensorList inputs) const {
  Call call{bound_addresses_, std::vector<at::Tensor>(bound_.size()), {}, {}, nullptr};
  if (device_.is_cuda()) call.stream = static_cast<CUstream>(current_stream(device_));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (packaged_.inputs[i].buffer >= 0) call.place(static_cast<std::size_t>(packaged_.inputs[i].buffer), inputs[i]);
  return call;
}

void ExportedPlan::place_workspace(const Workspace& workspace, Call& call) const {
  if (workspace.bytes == 0) return;
  call.workspace = empty_like({DType::u8, {workspace.bytes}, {1}});
  workspace.place(static_cast<std::byte*>(call.workspace.data_ptr()), call.addresses);
}

void ExportedPlan::allocate_outputs(Call& call, bool of_op_steps) const {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (buffer.role != BufferRole::output || (buffer.allocated_by_op && !of_op_steps)) continue;
    if (!call.owners[i].defined()) call.place(i, empty_like(buffer.meta));
  }
}

//! What op steps read from outside, as tensors.
void ExportedPlan::set_values(Call& call) const {
  call.values = op_steps_->no_values();
  for (const std::size_t id : op_steps_->values_from_outside()) {
    const TensorRef& ref = plan_.values[id];
    const auto buffer = static_cast<std::size_t>(ref.buffer);
    if (owner_of(buffer, call).defined())
      call.values.tensors[id] = value_of(static_cast<ValueId>(id), call);
    else if (call.addresses[buffer] || ref.meta.numel() == 0)  // preparing comes before there are inputs
      call.values.tensors[id] = tensor_at(call.addresses[buffer] + ref.byte_offset, ref.meta, device_);
  }
}

//! Undefined for what lies in the workspace.
const at::Tensor& ExportedPlan::owner_of(std::size_t buffer, const Call& call) const {
  if (call.owners[buffer].defined()) return call.owners[buffer];
  return plan_.buffers[buffer].allocated_by_op ? call.values.made[buffer] : bound_[buffer];
}

at::Tensor ExportedPlan::value_of(ValueId id, const Call& call) const {
  const TensorRef& ref = plan_.values[static_cast<std::size_t>(id)];
  const auto index = static_cast<std::size_t>(ref.buffer);
  const at::Tensor& owner = owner_of(index, call);
  if (is_whole(ref, plan_.buffers[index])) return owner;
  const std::int64_t offset = ref.byte_offset / size_in_bytes(ref.meta.dtype);
  return owner.as_strided(ref.meta.sizes, ref.meta.strides, owner.storage_offset() + offset);
}

std::vector<at::Tensor> ExportedPlan::call(at::TensorList inputs) {
  const c10::NoGradGuard no_gradients;
  Call call = begin_call(inputs);
  if (!plan_.cuda_graph || !run_as_graph(call)) {
    allocate_outputs(call, false);
    run_step_by_step(call);
  }
  has_run_ = true;
  count_writes_of_states();
  return outputs_of(call);
}

void ExportedPlan::run_step_by_step(Call& call, cuda::StepCapture* capture) {
  place_workspace(kernels_.call.workspace, call);
  if (op_steps_) set_values(call);
  const auto run_library_step = [&](std::size_t index, CUstream stream) { run_op(index, stream, call); };
  kernels_.call.run(plan_, call.addresses, call.stream, std::ref(run_library_step), capture);
}

void ExportedPlan::run_op(std::size_t index, CUstream stream, Call& call) const {
  if (stream == call.stream)
    op_steps_->run(index, call.values);
  else
    run_on_stream(device_, stream, [&] { op_steps_->run(index, call.values); });
  for (const ValueId id : std::get<OpStep>(plan_.call[index]).node.outputs) {
    const int buffer = plan_.values[static_cast<std::size_t>(id)].buffer;
    if (buffer >= 0 && plan_.buffers[static_cast<std::size_t>(buffer)].allocated_by_op)
      call.addresses[static_cast<std::size_t>(buffer)] =
          static_cast<std::byte*>(call.values.made[static_cast<std::size_t>(buffer)].data_ptr());
  }
}

//! False: this call has to go step by step. The first one does, since libraries initialise themselves in it, and so do
//! calls that the caller captures.
bool ExportedPlan::run_as_graph(Call& call) {
  if (!has_run_ || !can_be_captured_ || !device_.is_cuda() || cuda::is_being_captured(call.stream)) return false;
  cuda::CapturedCall* graph = graph_for(call);
  if (!graph) return false;
  allocate_outputs(call, true);
  graph->launch(call.addresses, kernels_.call.launches, call.stream);
  return true;
}

cuda::CapturedCall* ExportedPlan::graph_for(const Call& call) try {
  return &graphs_.on(call.stream, [&] { return captured_for(call); });
} catch (const std::exception& problem) {
  TORCH_WARN(packaged_.task, ": its CUDA Graph cannot be captured, so its steps run one by one: ", problem.what());
  can_be_captured_ = false;
  graphs_.clear();
  return nullptr;
}

std::unique_ptr<ExportedPlan::Graphs::Graph> ExportedPlan::captured_for(const Call& call) {
  auto graph = std::make_unique<Graphs::Graph>(plan_);
  Call& memory = graph->memory;
  // Of the caller's tensors only the addresses, which will be others at the next call.
  memory.addresses = call.addresses;
  memory.owners.resize(bound_.size());
  cuda::CapturedGraph captured = capture_with_library(device_, plan_, [&](const std::vector<CUstream>& streams) {
    memory.stream = streams.front();
    for (const int buffer : graph->captured.standing())
      memory.place(static_cast<std::size_t>(buffer), empty_like(plan_.buffers[static_cast<std::size_t>(buffer)].meta));
    cuda::StepCapture steps(plan_, graph->captured, streams);
    run_step_by_step(memory, &steps);
  });
  graph->captured.instantiate(std::move(captured), memory.addresses, call.stream);
  return graph;
}

std::vector<at::Tensor> ExportedPlan::outputs_of(const Call& call) const {
  std::vector<at::Tensor> outputs;
  outputs.reserve(plan_.outputs.size());
  for (const ValueId id : plan_.outputs) outputs.push_back(value_of(id, call));
  return outputs;
}

//! Autograd must notice that running statistics have changed.
void ExportedPlan::count_writes_of_states() const {
  for (const PackagedLeaf& state : packaged_.states) {
    if (state.buffer < 0) continue;
    const at::Tensor& tensor = bound_[static_cast<std::size_t>(state.buffer)];
    if (!tensor.is_inference()) tensor.unsafeGetTensorImpl()->bump_version();
  }
}

}  // namespace cudal1
