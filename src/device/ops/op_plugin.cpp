// libcudal1_ops.so: op steps through ATen.
#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <map>
#include <optional>

#include "device/op_runtime.hpp"
#include "device/ops/cuda_hooks.hpp"
#include "graph/aten_call.hpp"

namespace cudal1 {
namespace {

class AtenOpRuntime : public OpRuntime {
 public:
  AtenOpRuntime(const Plan& plan, const OpRuntimeOptions& options)
      : plan_(plan),
        options_(options),
        device_(options.cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)),
        tensors_(plan.values.size()),
        made_(plan.buffers.size()) {
    if (options.cuda) route_library_to(options);
    at::globalContext().setAllowTF32CuDNN(options.precision.tf32_convolution);
    at::globalContext().setAllowTF32CuBLAS(options.precision.tf32_matmul);
    for (std::size_t i = 0; i < plan.call.size(); ++i)
      if (const auto* step = std::get_if<OpStep>(&plan.call[i]))
        calls_.emplace(i, AtenCall(step->node, device_, false));
    find_last_uses();
  }

  ~AtenOpRuntime() override {
    end();
    for (void* address : reserved_) release_reserved(address);
  }

  void begin(const std::vector<void*>& addresses) override {
    end();
    addresses_ = addresses;
  }

  void run(const OpStep& step, std::size_t step_index) override try {
    drop_unused(step_index);
    const auto lookup = [this](ValueId id) -> const at::Tensor& { return tensor_of(id); };
    std::vector<at::Tensor> results = calls_.at(step_index)(lookup);
    if (results.size() < step.node.outputs.size())
      throw Error(
          fmt::format("{} gave {} results, {} expected", step.node.op, results.size(), step.node.outputs.size()));
    for (std::size_t i = 0; i < step.node.outputs.size(); ++i) keep(step.node.outputs[i], std::move(results[i]));
  } catch (const c10::OutOfMemoryError& error) {
    throw DeviceError(Status::out_of_memory,
                      fmt::format("op step {}: {}", step.node.name, error.what_without_backtrace()), false);
  } catch (const DeviceError&) {
    throw;
  } catch (const c10::Error& error) {
    throw DeviceError(Status::crashed, fmt::format("op step {}: {}", step.node.name, error.what_without_backtrace()),
                      true);
  } catch (const std::exception& error) {
    throw DeviceError(Status::crashed, fmt::format("op step {}: {}", step.node.name, error.what()), true);
  }

  void* address_of(int buffer) override { return made_[static_cast<std::size_t>(buffer)].data_ptr(); }

  void* reserve(std::size_t bytes) override {
    void* address = options_.cuda ? allocate_in_region(bytes) : std::malloc(bytes);
    if (!address)
      throw DeviceError(Status::out_of_memory, fmt::format("no room for a fixed buffer of {} bytes", bytes), false);
    reserved_.push_back(address);
    return address;
  }

  void end() override {
    for (at::Tensor& tensor : tensors_) tensor.reset();
    for (at::Tensor& tensor : made_) tensor.reset();
  }

 private:
  // A value outside op steps is a window on the arena; one inside is what the op returned, or a view of it.
  const at::Tensor& tensor_of(ValueId id) {
    at::Tensor& tensor = tensors_[static_cast<std::size_t>(id)];
    if (tensor.defined()) return tensor;
    const TensorRef& ref = plan_.values[static_cast<std::size_t>(id)];
    const auto buffer = static_cast<std::size_t>(ref.buffer);
    const auto scalar_type = to_scalar_type(ref.meta.dtype);
    if (plan_.buffers[buffer].allocated_by_op) {
      const std::int64_t offset = ref.byte_offset / size_in_bytes(ref.meta.dtype);
      tensor = made_[buffer].as_strided(ref.meta.sizes, ref.meta.strides, made_[buffer].storage_offset() + offset);
    } else {
      tensor = at::from_blob(static_cast<std::byte*>(addresses_[buffer]) + ref.byte_offset, ref.meta.sizes,
                             ref.meta.strides, at::TensorOptions(device_).dtype(scalar_type));
    }
    return tensor;
  }

  // The plan promised sizes and strides to everyone who reads the value; where the library chose another layout
  // (channels-last convolutions do), copy into the promised one.
  void keep(ValueId id, at::Tensor result) {
    const TensorRef& ref = plan_.values[static_cast<std::size_t>(id)];
    if (ref.buffer < 0) return;
    if (result.sizes() != at::IntArrayRef(ref.meta.sizes))
      throw Error("the result has other sizes than the task's graph says");
    if (result.strides() != at::IntArrayRef(ref.meta.strides)) {
      at::Tensor promised = at::empty_strided(ref.meta.sizes, ref.meta.strides, result.options());
      result = promised.copy_(result);
    }
    made_[static_cast<std::size_t>(ref.buffer)] = result;
    tensors_[static_cast<std::size_t>(id)] = std::move(result);
  }

  void find_last_uses() {
    last_use_.assign(plan_.buffers.size(), 0);
    for (std::size_t i = 0; i < plan_.call.size(); ++i)
      for (const int buffer : buffers_of(plan_, plan_.call[i])) last_use_[static_cast<std::size_t>(buffer)] = i;
    for (const ValueId id : plan_.outputs)
      if (const int buffer = plan_.values[static_cast<std::size_t>(id)].buffer; buffer >= 0)
        last_use_[static_cast<std::size_t>(buffer)] = std::numeric_limits<std::size_t>::max();
  }

  void drop_unused(std::size_t step_index) {
    for (std::size_t id = 0; id < tensors_.size(); ++id) {
      const int buffer = plan_.values[id].buffer;
      if (buffer < 0 || !made_[static_cast<std::size_t>(buffer)].defined()) continue;
      if (last_use_[static_cast<std::size_t>(buffer)] < step_index) tensors_[id].reset();
    }
    for (std::size_t buffer = 0; buffer < made_.size(); ++buffer)
      if (last_use_[buffer] < step_index) made_[buffer].reset();
  }

  void release_reserved(void* address) {
    if (options_.cuda)
      free_in_region(address);
    else
      std::free(address);
  }

  Plan plan_;
  OpRuntimeOptions options_;
  at::Device device_;
  std::map<std::size_t, AtenCall> calls_;  // by step index
  std::vector<at::Tensor> tensors_;        // by value
  std::vector<at::Tensor> made_;           // by buffer: what op steps returned
  std::vector<std::size_t> last_use_;      // by buffer: index of the last step that needs it
  std::vector<void*> addresses_;
  std::vector<void*> reserved_;
};

}  // namespace
}  // namespace cudal1

extern "C" cudal1::OpRuntime* cudal1_make_op_runtime(const cudal1::Plan& plan,
                                                     const cudal1::OpRuntimeOptions& options) {
  return new cudal1::AtenOpRuntime(plan, options);
}
