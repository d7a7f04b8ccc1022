// libcudal1_ops.so: op steps through ATen.
#include <ATen/Context.h>
#include <fmt/format.h>

#include <cstdlib>
#include <functional>

#include "device/op_runtime.hpp"
#include "device/ops/cuda_hooks.hpp"
#include "device/ops/op_steps.hpp"
#include "graph/tensor_at.hpp"

namespace cudal1 {
namespace {

class AtenOpRuntime : public OpRuntime {
 public:
  AtenOpRuntime(const Plan& plan, const OpRuntimeOptions& options)
      : plan_(plan), options_(options), device_(options.cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)) {
    if (options.cuda) route_library_to(options);
    at::globalContext().setAllowTF32CuDNN(options.precision.tf32_convolution);
    at::globalContext().setAllowTF32CuBLAS(options.precision.tf32_matmul);
    steps_.emplace(plan, device_, RandomNumbers::of_the_task);
    values_ = steps_->no_values();
  }

  ~AtenOpRuntime() override {
    end();
    for (void* address : reserved_) release_reserved(address);
  }

  void begin(const std::vector<void*>& addresses, std::uint64_t variation) override {
    end();
    if (options_.cuda) vary_region(variation);
    // A caller of PyTorch has its tensors already.
    for (const std::size_t id : steps_->values_from_outside())
      if (has_place(plan_.values[id], addresses))  // preparing comes before there are inputs
        values_.tensors[id] = window(plan_.values[id], addresses);
  }

  void run(const OpStep& step, std::size_t step_index) override {
    guarded(step, [&] { steps_->run(step_index, values_); });
  }

  void prepare(const OpStep& step, std::size_t step_index) override {
    guarded(step, [&] { steps_->prepare(step_index, values_); });
  }

  static void guarded(const OpStep& step, const std::function<void()>& work) try {
    work();
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

  void* address_of(int buffer) override { return values_.made[static_cast<std::size_t>(buffer)].data_ptr(); }

  void* reserve(std::size_t bytes) override {
    void* address = options_.cuda ? allocate_in_region(bytes) : std::malloc(bytes);
    if (!address)
      throw DeviceError(Status::out_of_memory, fmt::format("no room for a fixed buffer of {} bytes", bytes), false);
    reserved_.push_back(address);
    return address;
  }

  void keep_streams_apart(bool apart) override {
    if (options_.cuda) cudal1::keep_streams_apart(apart);
  }

  void use_stream(void* stream) override {
    if (options_.cuda) use_library_stream(stream);
  }

  void end() override {
    for (at::Tensor& tensor : values_.tensors) tensor.reset();
    for (at::Tensor& tensor : values_.made) tensor.reset();
  }

 private:
  static bool has_place(const TensorRef& ref, const std::vector<void*>& addresses) {
    return addresses[static_cast<std::size_t>(ref.buffer)] || ref.meta.numel() == 0;
  }

  at::Tensor window(const TensorRef& ref, const std::vector<void*>& addresses) const {
    auto* base = static_cast<std::byte*>(addresses[static_cast<std::size_t>(ref.buffer)]);
    return tensor_at(base + ref.byte_offset, ref.meta, device_);
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
  std::optional<OpSteps> steps_;  // made once the library's allocations are routed
  OpValues values_;
  std::vector<void*> reserved_;
};

}  // namespace
}  // namespace cudal1

extern "C" cudal1::OpRuntime* cudal1_make_op_runtime(const cudal1::Plan& plan,
                                                     const cudal1::OpRuntimeOptions& options) {
  return new cudal1::AtenOpRuntime(plan, options);
}
