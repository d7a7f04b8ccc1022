#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "device/cuda/driver.hpp"
#include "package/model_plan.hpp"
#include "package/plan_kernels.hpp"
#include "package/stream_graphs.hpp"

namespace cudal1 {
namespace {

constexpr std::uintptr_t alignment = 16;  // programs count on it

class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::int64_t bytes) {
    if (bytes > 0)
      cuda::check(cuda::driver().cuMemAlloc(&address_, static_cast<std::size_t>(bytes)), "allocate device memory");
  }
  DeviceMemory(DeviceMemory&& other) noexcept : address_(std::exchange(other.address_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(address_, other.address_);
    return *this;
  }
  ~DeviceMemory() {
    if (address_) cuda::driver().cuMemFree(address_);
  }
  std::byte* get() const { return reinterpret_cast<std::byte*>(address_); }

 private:
  CUdeviceptr address_ = 0;
};

//! Memory for one call, in the order of its stream.
class StreamMemory {
 public:
  StreamMemory(std::int64_t bytes, CUstream stream) : stream_(stream) {
    if (bytes > 0)
      cuda::check(cuda::driver().cuMemAllocAsync(&address_, static_cast<std::size_t>(bytes), stream),
                  "allocate device memory");
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory() {
    if (address_) cuda::driver().cuMemFreeAsync(address_, stream_);
  }
  std::byte* get() const { return reinterpret_cast<std::byte*>(address_); }

 private:
  CUdeviceptr address_ = 0;
  CUstream stream_;
};

//! A contiguous tensor in the strides that the program was made for.
std::vector<std::byte> laid_out(const StoredTensor& stored, const TensorMeta& meta) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(meta.span_bytes()));
  const auto element = static_cast<std::size_t>(size_in_bytes(meta.dtype));
  std::vector<std::int64_t> index(meta.sizes.size(), 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(meta.numel()); ++i) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < index.size(); ++d) place += index[d] * meta.strides[d];
    std::memcpy(&bytes[static_cast<std::size_t>(place) * element], &stored.bytes[i * element], element);
    for (std::size_t d = index.size(); d-- > 0 && ++index[d] == meta.sizes[d];) index[d] = 0;
  }
  return bytes;
}

class KernelModelPlan : public ModelPlan {
 public:
  KernelModelPlan(PackagedProgram& program, int device)
      : packaged_(program.packaged),
        plan_(packaged_.plan),
        context_(cuda::use_primary_context(device)),
        kernels_(plan_, program.kernels, device),
        bound_(plan_.buffers.size(), nullptr) {}

  ~KernelModelPlan() override {
    cuda::driver().cuCtxSetCurrent(context_);
    cuda::driver().cuCtxSynchronize();  // calls under way use this memory
  }

  void bind(const std::function<const StoredTensor&(const PackagedLeaf&)>& find) override {
    enter();
    cuda::check(cuda::driver().cuCtxSynchronize(), "wait for earlier calls");
    for (const std::vector<PackagedLeaf>* leaves : {&packaged_.weights, &packaged_.states})
      for (const PackagedLeaf& leaf : *leaves)
        if (leaf.buffer >= 0) upload(leaf, find(leaf));
    for (std::size_t i = 0; i < bound_.size(); ++i)
      if (plan_.buffers[i].role == BufferRole::prepared) hold(i, plan_.buffers[i].meta);
    prepare();
  }

  void run(const void* const* inputs, void* const* outputs, void* stream) override {
    enter();
    const auto on = static_cast<CUstream>(stream);
    const std::vector<std::byte*> addresses = addresses_of(inputs, outputs);
    if (plan_.cuda_graph && !cuda::is_being_captured(on))
      graphs_.on(on, [&] { return captured(addresses, on); }).launch(addresses, kernels_.call.launches, on);
    else
      run_step_by_step(addresses, on);
  }

 private:
  using Graphs = StreamGraphs<DeviceMemory>;

  void enter() const { cuda::check(cuda::driver().cuCtxSetCurrent(context_), "use the context"); }

  void hold(std::size_t buffer, const TensorMeta& meta) {
    if (bound_[buffer]) return;
    memory_.emplace_back(meta.span_bytes());
    bound_[buffer] = memory_.back().get();
  }

  void upload(const PackagedLeaf& leaf, const StoredTensor& stored) {
    const auto buffer = static_cast<std::size_t>(leaf.buffer);
    hold(buffer, leaf.meta);
    const std::vector<std::byte> bytes = laid_out(stored, leaf.meta);
    if (!bytes.empty())
      cuda::check(
          cuda::driver().cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(bound_[buffer]), bytes.data(), bytes.size()),
          fmt::format("upload {}", leaf.name));
  }

  void prepare() {
    const DeviceMemory workspace(kernels_.prepare.workspace.bytes);
    std::vector<std::byte*> addresses = bound_;
    kernels_.prepare.workspace.place(workspace.get(), addresses);
    kernels_.prepare.run(plan_, addresses, nullptr, {});
    cuda::check(cuda::driver().cuCtxSynchronize(), "prepare the weights");
  }

  std::vector<std::byte*> addresses_of(const void* const* inputs, void* const* outputs) const {
    std::vector<std::byte*> addresses = bound_;
    for (std::size_t i = 0; i < packaged_.inputs.size(); ++i) {
      if (reinterpret_cast<std::uintptr_t>(inputs[i]) % alignment != 0)
        throw Error(fmt::format("the input {} is not aligned to {} bytes", packaged_.inputs[i].name, alignment));
      if (packaged_.inputs[i].buffer >= 0)
        addresses[static_cast<std::size_t>(packaged_.inputs[i].buffer)] =
            static_cast<std::byte*>(const_cast<void*>(inputs[i]));
    }
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
      if (reinterpret_cast<std::uintptr_t>(outputs[i]) % alignment != 0)
        throw Error(fmt::format("output {} is not aligned to {} bytes", i, alignment));
      const TensorRef& ref = plan_.values[static_cast<std::size_t>(plan_.outputs[i])];
      addresses[static_cast<std::size_t>(ref.buffer)] = static_cast<std::byte*>(outputs[i]);
    }
    return addresses;
  }

  void run_step_by_step(std::vector<std::byte*> addresses, CUstream stream) {
    const StreamMemory workspace(kernels_.call.workspace.bytes, stream);
    kernels_.call.workspace.place(workspace.get(), addresses);
    kernels_.call.run(plan_, addresses, stream, {});
  }

  std::unique_ptr<Graphs::Graph> captured(std::vector<std::byte*> addresses, CUstream stream) {
    auto graph = std::make_unique<Graphs::Graph>(plan_);
    graph->memory = DeviceMemory(kernels_.call.workspace.bytes);
    kernels_.call.workspace.place(graph->memory.get(), addresses);
    CUstream own = nullptr;  // the caller's may be one that cannot be captured
    cuda::check(cuda::driver().cuStreamCreate(&own, CU_STREAM_NON_BLOCKING), "make a stream");
    const std::unique_ptr<CUstream_st, void (*)(CUstream)> closed(
        own, [](CUstream made) { cuda::driver().cuStreamDestroy(made); });
    cuda::SideStreams side_streams;
    cuda::StepCapture steps(plan_, graph->captured, side_streams.behind(own, plan_));
    cuda::CapturedGraph made = cuda::capture(own, [&] { kernels_.call.run(plan_, addresses, own, {}, &steps); });
    graph->captured.instantiate(std::move(made), std::move(addresses), stream);
    return graph;
  }

  const PackagedPlan& packaged_;
  const Plan& plan_;
  CUcontext context_;
  PlanKernels kernels_;
  std::vector<DeviceMemory> memory_;
  std::vector<std::byte*> bound_;  // by buffer: weights, states and prepared buffers
  Graphs graphs_;
};

}  // namespace

std::unique_ptr<ModelPlan> make_model_plan(PackagedProgram& program, int device) {
  if (!runs_without_library(program.packaged.plan))
    throw Error("this program has library steps: export it again, so that its libcudal1_model.so brings LibTorch");
  if (device < 0) throw Error("its kernels run on a GPU only: name one instead of the host");
  return std::make_unique<KernelModelPlan>(program, device);
}

}  // namespace cudal1
