#include "package/exported_plan.hpp"

#include <ATen/Functions.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "graph/tensor_at.hpp"
#include "package/caller_stream.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t workspace_alignment = 256;
// The widest access of a thread; the judge's buffers are aligned to more, so programs may count on it.
constexpr std::uintptr_t input_alignment = 16;

bool is_whole(const TensorRef& ref, const Buffer& buffer) { return ref.byte_offset == 0 && ref.meta == buffer.meta; }

//! Strides of a dimension with one element mean nothing.
bool same_strides(const at::Tensor& tensor, const TensorMeta& meta) {
  for (std::size_t i = 0; i < meta.sizes.size(); ++i)
    if (meta.sizes[i] > 1 && tensor.stride(static_cast<std::int64_t>(i)) != meta.strides[i]) return false;
  return true;
}

bool holds_nothing_between_calls(BufferRole role) {
  return role == BufferRole::intermediate || role == BufferRole::scratch;
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

struct ExportedPlan::Call {
  std::vector<at::Tensor> owners;     // by buffer: who holds its memory; none for what lies in the workspace
  std::vector<std::byte*> addresses;  // by buffer
  at::Tensor workspace;
  OpValues values;
  void* stream = nullptr;

  explicit Call(const std::vector<at::Tensor>& bound) : owners(bound), addresses(bound.size(), nullptr) {
    for (std::size_t i = 0; i < bound.size(); ++i)
      if (bound[i].defined()) addresses[i] = static_cast<std::byte*>(bound[i].data_ptr());
  }

  void place(std::size_t buffer, const at::Tensor& tensor) {
    owners[buffer] = tensor;
    addresses[buffer] = static_cast<std::byte*>(tensor.data_ptr());
  }
};

ExportedPlan::ExportedPlan(const PackagedPlan& packaged, KernelImages& kernels, at::Device device)
    : packaged_(packaged), plan_(packaged_.plan), device_(device), bound_(packaged.plan.buffers.size()) {
  const c10::DeviceGuard guard(device_);
  if (plan_.has_launches()) load_kernels(kernels);
  if (plan_.has_op_steps()) op_steps_.emplace(plan_, device_, RandomNumbers::of_the_caller);
  prepare_layout_ = lay_out(plan_.prepare);
  call_layout_ = lay_out(plan_.call);
}

ExportedPlan::~ExportedPlan() = default;

void ExportedPlan::load_kernels(KernelImages& kernels) {
  if (!device_.is_cuda()) throw Error("its kernels run on a GPU only");
  current_stream(device_);  // makes PyTorch start the device, whose context is ours as well
  const CompiledModule image = kernels.image_for(cuda::device_info(device_.index()).target);
  module_ = std::make_unique<cuda::Module>(image.binary);
  prepare_launches_ = cuda::launches_of(plan_.prepare, module_.get(), image);
  call_launches_ = cuda::launches_of(plan_.call, module_.get(), image);
}

ExportedPlan::Layout ExportedPlan::lay_out(const std::vector<Step>& steps) const {
  Layout layout{std::vector<std::int64_t>(plan_.buffers.size(), -1), 0};
  for (const Step& step : steps)
    for (const int index : buffers_of(plan_, step)) {
      const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(index)];
      std::int64_t& offset = layout.offsets[static_cast<std::size_t>(index)];
      if (offset >= 0 || buffer.allocated_by_op || !holds_nothing_between_calls(buffer.role)) continue;
      offset = layout.bytes;
      layout.bytes += (buffer.meta.span_bytes() + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
    }
  return layout;
}

at::Tensor ExportedPlan::empty_like(const TensorMeta& meta) const {
  return at::empty_strided(meta.sizes, meta.strides, at::TensorOptions(to_scalar_type(meta.dtype)).device(device_));
}

void ExportedPlan::bind(std::vector<at::Tensor> weights, std::vector<at::Tensor> states) {
  const c10::DeviceGuard guard(device_);
  const c10::NoGradGuard no_gradients;
  const auto set = [&](const std::vector<PackagedLeaf>& leaves, const std::vector<at::Tensor>& tensors) {
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (leaves[i].buffer >= 0) bound_[static_cast<std::size_t>(leaves[i].buffer)] = tensors.at(i).detach();
  };
  set(packaged_.weights, weights);
  set(packaged_.states, states);
  for (std::size_t i = 0; i < bound_.size(); ++i)
    if (plan_.buffers[i].role == BufferRole::prepared) bound_[i] = empty_like(plan_.buffers[i].meta);
  prepare();
}

void ExportedPlan::prepare() {
  if (plan_.prepare.empty()) return;
  Call call(bound_);
  call.stream = current_stream(device_);
  place_workspace(prepare_layout_, call);
  run_steps(plan_.prepare, prepare_launches_, call);
  // Calls may come on any stream from now on.
  cuda::check(cuda::driver().cuStreamSynchronize(static_cast<CUstream>(call.stream)), "prepare the weights");
}

void ExportedPlan::place_workspace(const Layout& layout, Call& call) const {
  if (layout.bytes == 0) return;
  call.workspace = at::empty({layout.bytes}, at::TensorOptions(at::kByte).device(device_));
  auto* base = static_cast<std::byte*>(call.workspace.data_ptr());
  for (std::size_t i = 0; i < layout.offsets.size(); ++i)
    if (layout.offsets[i] >= 0) call.addresses[i] = base + layout.offsets[i];
}

void ExportedPlan::allocate_outputs(Call& call) const {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].role == BufferRole::output && !plan_.buffers[i].allocated_by_op)
      call.place(i, empty_like(plan_.buffers[i].meta));
}

//! What op steps read from outside, as tensors.
void ExportedPlan::set_values(Call& call) const {
  call.values = op_steps_->no_values();
  for (const std::size_t id : op_steps_->values_from_outside()) {
    const TensorRef& ref = plan_.values[id];
    const auto buffer = static_cast<std::size_t>(ref.buffer);
    call.values.tensors[id] = call.owners[buffer].defined()
                                  ? value_of(static_cast<ValueId>(id), call)
                                  : tensor_at(call.addresses[buffer] + ref.byte_offset, ref.meta, device_);
  }
}

at::Tensor ExportedPlan::value_of(ValueId id, const Call& call) const {
  const TensorRef& ref = plan_.values[static_cast<std::size_t>(id)];
  const auto index = static_cast<std::size_t>(ref.buffer);
  const Buffer& buffer = plan_.buffers[index];
  const at::Tensor& owner = buffer.allocated_by_op ? call.values.made[index] : call.owners[index];
  if (is_whole(ref, buffer)) return owner;
  const std::int64_t offset = ref.byte_offset / size_in_bytes(ref.meta.dtype);
  return owner.as_strided(ref.meta.sizes, ref.meta.strides, owner.storage_offset() + offset);
}

std::vector<at::Tensor> ExportedPlan::call(const std::vector<at::Tensor>& inputs) {
  const c10::DeviceGuard guard(device_);
  const c10::NoGradGuard no_gradients;
  Call call(bound_);
  if (device_.is_cuda()) call.stream = current_stream(device_);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (packaged_.inputs[i].buffer >= 0) call.place(static_cast<std::size_t>(packaged_.inputs[i].buffer), inputs[i]);
  allocate_outputs(call);
  place_workspace(call_layout_, call);
  if (op_steps_) set_values(call);
  run_steps(plan_.call, call_launches_, call);
  count_writes_of_states();
  return outputs_of(call);
}

void ExportedPlan::run_steps(const std::vector<Step>& steps, std::vector<cuda::PreparedLaunch>& launches, Call& call) {
  std::size_t next_launch = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::holds_alternative<LaunchStep>(steps[i])) {
      cuda::PreparedLaunch& launch = launches[next_launch++];
      launch.set_addresses(call.addresses);
      launch.launch(static_cast<CUstream>(call.stream));
    } else if (const auto* zero = std::get_if<ZeroStep>(&steps[i])) {
      const auto buffer = static_cast<std::size_t>(zero->buffer);
      cuda::zero_async(call.addresses[buffer], plan_.buffers[buffer], static_cast<CUstream>(call.stream));
    } else {
      run_op(i, call);
    }
  }
}

void ExportedPlan::run_op(std::size_t index, Call& call) const {
  op_steps_->run(index, call.values);
  for (const ValueId id : std::get<OpStep>(plan_.call[index]).node.outputs) {
    const int buffer = plan_.values[static_cast<std::size_t>(id)].buffer;
    if (buffer >= 0 && plan_.buffers[static_cast<std::size_t>(buffer)].allocated_by_op)
      call.addresses[static_cast<std::size_t>(buffer)] =
          static_cast<std::byte*>(call.values.made[static_cast<std::size_t>(buffer)].data_ptr());
  }
}

std::vector<at::Tensor> ExportedPlan::outputs_of(const Call& call) const {
  std::vector<at::Tensor> outputs;
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
