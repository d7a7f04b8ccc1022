#include "train/gradient_clipping.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace cudal1 {

at::Tensor clip_by_global_norm(const std::vector<at::Tensor>& gradients, double longest) {
  if (gradients.empty()) return at::zeros({});
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> norms = at::_foreach_norm(gradients, /*ord=*/2, at::kFloat);
  const at::Tensor norm = at::linalg_vector_norm(at::stack(norms));
  const at::Tensor factor = (longest / (norm + 1e-6)).clamp_max(1.0);  // as torch.nn.utils.clip_grad_norm_
  at::_foreach_mul_(gradients, at::where(at::isfinite(norm), factor, 1.0));
  return norm;
}

}  // namespace cudal1
