#include "package/bound_module.hpp"

#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>

namespace cudal1 {
namespace {

std::optional<DoesNotFit> misfit(at::TensorList tensors, const std::vector<PackagedLeaf>& leaves, at::Device device) {
  if (tensors.size() != leaves.size())
    return DoesNotFit{fmt::format("it got {} tensors, not {}", tensors.size(), leaves.size())};
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (const char* reason = does_not_fit(tensors[i], leaves[i], device))
      return DoesNotFit{fmt::format("{} {}", leaves[i].name, reason)};
  return std::nullopt;
}

//! Constants follow the others. There is a tensor.
at::Device device_of(at::TensorList inputs, at::TensorList weights, const std::vector<PackagedLeaf>& leaves) {
  if (!inputs.empty()) return inputs.front().device();
  const auto own = std::ranges::find(leaves, false, &PackagedLeaf::is_constant);
  return weights[own == leaves.end() ? 0 : static_cast<std::size_t>(own - leaves.begin())].device();
}

bool needs_gradient(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors)
    if (tensor.requires_grad()) return true;
  return false;
}

//! Dual tensors carry a derivative along, whether gradients are recorded or not. There is one level of them.
bool has_tangent(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors)
    if (tensor._fw_grad(0).defined()) return true;
  return false;
}

}  // namespace

BoundModule::Identity BoundModule::identity_of(const at::Tensor& tensor, bool with_version) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  const bool counted = with_version && !tensor.is_inference();
  return {impl, tensor.const_data_ptr(), counted ? impl->version_counter().current_version() : 0};
}

std::vector<BoundModule::Identity> BoundModule::identities(at::TensorList tensors, bool with_version) {
  std::vector<Identity> made;
  for (const at::Tensor& tensor : tensors) made.push_back(identity_of(tensor, with_version));
  return made;
}

bool BoundModule::same(const std::vector<Identity>& known, at::TensorList now, bool with_version) {
  if (known.size() != now.size()) return false;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (identity_of(now[i], with_version) != known[i]) return false;
  return true;
}

BoundModule::OnDevice& BoundModule::on_device(at::Device device) {
  return device.is_cpu() ? processor_ : gpus_[device.index()];
}

std::optional<DoesNotFit> BoundModule::misfit_of(at::TensorList inputs) const {
  const at::Device device = inputs.empty() ? at::Device(at::kCPU) : inputs.front().device();
  return misfit(inputs, packaged().inputs, device);
}

std::vector<at::Tensor> BoundModule::with_constants_placed(OnDevice& here, at::Device device,
                                                           at::TensorList weights) const {
  std::vector<at::Tensor> made = weights.vec();
  for (std::size_t i = 0; i < made.size(); ++i) {
    const PackagedLeaf& leaf = packaged().weights.at(i);
    if (!leaf.is_constant) continue;
    PlacedConstant& known = here.constants[i];
    if (const Identity now = identity_of(made[i], true); !known.copy.defined() || known.identity != now)
      known = {made[i], now, placed(made[i], leaf, device)};
    made[i] = known.copy;
  }
  return made;
}

std::optional<DoesNotFit> BoundModule::bind(OnDevice& here, at::Device device, at::TensorList weights,
                                            at::TensorList states) {
  if (device.is_cuda() && is_being_captured(device))
    return DoesNotFit{"a capture has begun before its weights were prepared (call it once before)"};
  const std::vector<at::Tensor> weights_here = with_constants_placed(here, device, weights);
  if (auto problem = misfit(weights_here, packaged().weights, device)) return problem;
  if (auto problem = misfit(states, packaged().states, device)) return problem;
  if (!here.plan) here.plan = std::make_unique<ExportedPlan>(packaged(), program_.kernels, device);
  here.weights.clear();  // should bind fail half-way, the next call tries again
  here.plan->bind(weights_here, states);
  here.weights = identities(weights, true);
  here.states = identities(states, false);
  return std::nullopt;
}

std::variant<std::vector<at::Tensor>, DoesNotFit> BoundModule::call(at::TensorList inputs, at::TensorList weights,
                                                                    at::TensorList states) {
  if (inputs.empty() && weights.empty()) return DoesNotFit{"it has neither inputs nor weights"};
  const at::Device device = device_of(inputs, weights, packaged().weights);
  if (!device.is_cuda() && !(device.is_cpu() && !packaged().plan.has_launches()))
    return DoesNotFit{fmt::format("its kernels do not run on {}", device.str())};
  if (at::autocast::is_autocast_enabled(device.type())) return DoesNotFit{"autocast is on"};
  if (c10::GradMode::is_enabled() && (needs_gradient(inputs) || needs_gradient(weights)))
    return DoesNotFit{"a gradient is needed (the program is for inference: use torch.no_grad())"};
  if (has_tangent(inputs) || has_tangent(weights)) return DoesNotFit{"a forward derivative is needed"};

  const std::lock_guard lock(mutex_);
  const c10::DeviceGuard guard(device);
  OnDevice& here = on_device(device);
  if (!here.plan || !same(here.weights, weights, true) || !same(here.states, states, false))
    if (auto problem = bind(here, device, weights, states)) return *problem;
  return here.plan->call(inputs);
}

}  // namespace cudal1
