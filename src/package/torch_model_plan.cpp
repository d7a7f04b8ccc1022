#include <ATen/Functions.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "graph/tensor_at.hpp"
#include "package/exported_plan.hpp"
#include "package/model_plan.hpp"
#include "package/torch_cuda.hpp"

namespace cudal1 {
namespace {

at::Tensor stored(const StoredTensor& tensor) {
  return tensor_at(const_cast<std::byte*>(tensor.bytes.data()), tensor.meta, at::kCPU);
}

//! PyTorch's errors come with a stack trace, which is not for users.
void in_one_line(const std::function<void()>& run) try { run(); } catch (const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  throw Error(text.substr(0, text.find('\n')));
}

class TorchModelPlan : public ModelPlan {
 public:
  TorchModelPlan(PackagedProgram& program, int device)
      : packaged_(program.packaged),
        device_(device < 0 ? at::Device(at::kCPU) : at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device))) {
    in_one_line([&] {
      const c10::DeviceGuard guard(device_);
      plan_ = std::make_unique<ExportedPlan>(program.packaged, program.kernels, device_);
    });
  }

  void bind(const std::function<const StoredTensor&(const PackagedLeaf&)>& find) override {
    in_one_line([&] {
      const c10::DeviceGuard guard(device_);
      const c10::NoGradGuard no_gradients;
      plan_->bind(tensors_of(packaged_.weights, find), tensors_of(packaged_.states, find));
    });
  }

  void run(const void* const* inputs, void* const* outputs, void* stream) override {
    in_one_line([&] {
      const c10::DeviceGuard guard(device_);
      const c10::NoGradGuard no_gradients;
      const auto call = [&] { call_on_current_stream(inputs, outputs); };
      device_.is_cuda() ? run_on_stream(device_, stream, call) : call();
    });
  }

 private:
  std::vector<at::Tensor> tensors_of(const std::vector<PackagedLeaf>& leaves,
                                     const std::function<const StoredTensor&(const PackagedLeaf&)>& find) const {
    std::vector<at::Tensor> tensors;
    for (const PackagedLeaf& leaf : leaves) {
      const auto options = at::TensorOptions(to_scalar_type(leaf.meta.dtype)).device(device_);
      tensors.push_back(at::empty_strided(leaf.meta.sizes, leaf.meta.strides, options));
      tensors.back().copy_(stored(find(leaf)));
    }
    return tensors;
  }

  void call_on_current_stream(const void* const* inputs, void* const* outputs) {
    std::vector<at::Tensor> given;
    for (std::size_t i = 0; i < packaged_.inputs.size(); ++i) {
      given.push_back(tensor_at(const_cast<void*>(inputs[i]), packaged_.inputs[i].meta, device_));
      if (const char* reason = does_not_fit(given.back(), packaged_.inputs[i], device_))
        throw Error(fmt::format("the input {} {}", packaged_.inputs[i].name, reason));
    }
    const std::vector<at::Tensor> results = plan_->call(given);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const TensorMeta& meta = packaged_.plan.values[static_cast<std::size_t>(packaged_.plan.outputs[i])].meta;
      tensor_at(outputs[i], meta, device_).copy_(results[i]);
    }
  }

  const PackagedPlan& packaged_;
  at::Device device_;
  std::unique_ptr<ExportedPlan> plan_;
};

}  // namespace

std::unique_ptr<ModelPlan> make_model_plan(PackagedProgram& program, int device) {
  if (device < 0 && program.packaged.plan.has_launches())
    throw Error("its kernels run on a GPU only: name one instead of the host");
  return std::make_unique<TorchModelPlan>(program, device);
}

}  // namespace cudal1
